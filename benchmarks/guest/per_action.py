"""Times steps with a process per action: per_action.py TIMES X Y [X Y ...].

A step is a new Python process that clicks with pyautogui, then a plain pyatspi walk and a pyautogui
screenshot in this one. Nothing waits for the screen to settle. Prints {"samples_ms": [...]}.
"""

import itertools
import json
import subprocess
import sys
import time

import pyautogui
from walk import walk_desktop


def main() -> None:
    """Measure and print."""
    numbers = [int(word) for word in sys.argv[2:]]
    places = itertools.cycle(zip(numbers[::2], numbers[1::2]))
    walk_desktop()
    samples = []
    for _, (x, y) in zip(range(int(sys.argv[1])), places):
        start_s = time.perf_counter()
        code = f"import pyautogui; pyautogui.click({x}, {y})"
        subprocess.run([sys.executable, "-c", code], check=True)
        walk_desktop()
        pyautogui.screenshot().load()
        samples.append((time.perf_counter() - start_s) * 1000)
    print(json.dumps({"samples_ms": samples}))


if __name__ == "__main__":
    main()
