"""Task templates: TOML files of data that a seed turns into a `TaskSpec`. Nothing in them is executed.

One template per file; its id is the file's stem. An example, `calculator-sum.toml`:

    difficulty = "easy"                       # easy, medium or hard
    instruction = "Compute {a} + {b} and store it in {name}."
    paraphrases = ["Let {name} be {a} + {b}."] # optional; the seed picks one of these or the instruction
    kind = "task"                             # default, ends with DONE; question: ANS; infeasible: FAIL
    max_steps = 15
    stagnation_steps = 0                      # optional: truncate after so many steps without a subtask done
    files = ["out.txt"]                       # optional: guest files that checks read, relative to the home

    [parameters]                              # optional; drawn in this order
    a = {low = 1, high = 9}                   # int, both ends included; step = 2 takes every other one
    b = {low = 1, high = 9, distinct_from = "a"}
    x = {low = 0.0, high = 1.0, step = 0.25}  # floats need a step
    name = {choice = ["p", "q"]}              # an entry may be a list, or a table with fields {name.field}
    sum = {compute = "a + b"}                 # arithmetic on earlier parameters, see below
    note = {text = "{a} and {b}"}             # a text with earlier parameters in it

    [[setup]]                                 # optional: the app's set-up verbs, with their arguments
    verb = "tab"
    name = "Calculator"

    [[node]]                                  # subtasks, at least one
    id = "stored"
    goal = "{name} holds the sum"
    after = []                                # optional: subtasks that must be complete before this one
    application = "kalgebra"                  # optional: the app's name unless given
    check = {predicate = "variable", name = "{name}", equals = "{sum}"}  # or a list of such: all must hold

    [[inspect]]                               # optional: what checks need to know of what the program stored;
    inspection = "raster"                     # one of the app's inspections, with its arguments
    map = "{name}"

    [[oracle]]                                # optional: a solution, through the program's windows
    do = "click"
    target = {role = "text", name = "Input", nth = 0}  # what to act at, perhaps counted from what is named by
                                              # `label`; or x = 10, y = 20 in pixels
    [[oracle]]
    do = "type"
    text = "{name}:={a}+{b}"

    [[oracles.console]]                       # optional: another, by a name of its own; `verify` plays all
    do = "type"
    text = "{name}:={b}+{a}"

Predicates, verbs and inspections without a dot are the app's own, unless they are among `GENERIC_PREDICATES`.

Oracle steps: click, double_click, right_click, move, drag (to there, from where the pointer is; `button`)
and scroll (`amount`, `amount_x`) act at a point; type and answer take `text`; press takes `key`; hotkey takes
`keys`, the last of which is pressed while the others are held; wait takes `seconds`, and may take `until`, a
check such as a node has: it is repeated until that holds; code takes `text` and `language`; api
takes `text`; done and fail take nothing. In place of `text`, type and answer may take
`read = {state = "console", after = "maximum:"}`: the word that stands last after that in a text of the
app's state, once it is there.

`{name}` and `{name.field}` are filled in in the strings of instruction, files, goal, setup, check, inspect
and oracles; `{{` and `}}` are braces. A string that is nothing but `{name}` becomes the value itself, such as
a number or a list, except where text is asked for. In text, a number that is whole has no ".0", and a list is
its items with ", " between them.

`compute` knows numbers, + - * / // % **, parentheses, pi, e, earlier parameters (`case.f` or `case["f"]` for
a table's field) and abs, min, max, round, sqrt, sin, cos, tan, exp, log, factorial, gcd, comb, floor, ceil.
"""

from sci_gym.tasks.template import Template, load_template, load_templates

__all__ = ["Template", "load_template", "load_templates"]
