"""Times pyautogui's screenshot, as an RGB image in this process: screen.py TIMES.

Prints {"samples_ms": [...], "width_px": W, "height_px": H}.
"""

import json
import sys
import time

import pyautogui


def main() -> None:
    """Measure and print."""
    samples = []
    image = pyautogui.screenshot()
    for _ in range(int(sys.argv[1])):
        start_s = time.perf_counter()
        image = pyautogui.screenshot()
        image.load()
        samples.append((time.perf_counter() - start_s) * 1000)
    print(json.dumps({"samples_ms": samples, "width_px": image.width, "height_px": image.height}))


if __name__ == "__main__":
    main()
