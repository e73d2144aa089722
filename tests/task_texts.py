"""What task files of several tests have in common."""

STORING = """\
[parameters]
a = {low = 1, high = 9}
b = {low = 1, high = 9, distinct_from = "a"}
name = {choice = ["p", "q"]}
sum = {compute = "a + b"}

[[setup]]
verb = "tab"
name = "Calculator"

[[node]]
id = "stored"
goal = "{name} is {sum}"
check = {predicate = "variable", name = "{name}", equals = "{sum}"}
"""
