"""The daemon beside the programs: input, capture, accessibility, programs and files of one Linux desktop.

It imports only `sci_gym_protos` and the platform, and runs on Python 3.9 or later, so that a guest's
Python may be older than the host's. `python -m sci_gym_vm_agent --help` tells how to start it anywhere.
"""

__version__ = "0.1.0"
