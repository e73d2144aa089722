"""Becomes ChimeraX, as its launcher does, with what reports its state and takes its commands.

Runs in the installation's own Python. No other Python than ChimeraX's own is executed in its process: the
tools, commands and file formats that would are gone, and the interpreter refuses code from any other place.
What reports the state could be made to lie otherwise. Where the command line is not among what is to be used,
the tool and files of commands are gone as well.

Commands come on a socket below /tmp, which the desktop's cells reach: from set-ups, and from a policy's code.
"""

import contextlib
import importlib.util
import json
import os
import re
import runpy
import socket
import sys

SOCKET = "/tmp/chimerax"
MOST_BYTES = 2**20
VISIT_S = 5
ALWAYS_GONE = {"Shell", "Toolshed", "Toolshed Preview", "Bundle Manager", "Build Bundle", "Remote Control"}
COMMAND_TOOLS = {"Command Line Interface", "Command History", "Usage"}
PYTHON_COMMANDS = (
    "runscript", "devel", "pip", "toolshed", "remotecontrol", "mcp", "shell", "ui tool show Shell",
)  # fmt: skip
AFTER_COMMAND = re.compile(r"[;\n]")
HERE = os.path.realpath(sys.prefix)
ROOTS = tuple({HERE, os.path.realpath(sys.base_prefix), *map(os.path.realpath, sys.path)} - {"/"})


def keep_foreign_code_out(event, arguments):
    """An audit hook: refuses to compile and to execute what does not come from the installation.

    Of files that hold pickles, as some formats do, plain data alone is read: what they name would be called.
    """
    if event == "pickle.find_class":
        raise RuntimeError(f"{arguments[0]}.{arguments[1]} is not called for a file")
    if event == "compile":
        name = arguments[1]
    elif event == "exec":
        name = getattr(arguments[0], "co_filename", None)
    else:
        return
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if isinstance(name, str) and not name.startswith("<") and not belongs(name):
        raise RuntimeError(f"{name} is no part of the program")


def belongs(name):
    """Whether a file is one of the installation's."""
    path = os.path.realpath(name)
    return any(path == root or path.startswith(root + os.sep) for root in ROOTS)


def refuse(*arguments, **options):
    """In place of what would execute Python, or a command where there are none."""
    from chimerax.core.errors import UserError

    raise UserError("Not executed here: Python, and commands that the interface leaves out")


def close_doors(session, interface):
    """Take away what executes Python, and what takes commands where those are not to be used."""
    from chimerax.core import scripting
    from chimerax.core.commands import cli
    from chimerax.ui.widgets import htmlview

    scripting._exec_python = scripting.open_python_script = refuse
    scripting.open_compiled_python_script = refuse
    for command in PYTHON_COMMANDS:
        with contextlib.suppress(KeyError, RuntimeError):
            cli.deregister(command)
    gone = set(ALWAYS_GONE)
    if interface == "gui":
        gone |= COMMAND_TOOLS
        scripting.open_command_script = scripting.apply_command_script = refuse
        htmlview.cxcmd = refuse  # of addresses such as cxcmd:COMMAND, typed into the help viewer or clicked
        keep_fields_from_commands(cli.Command)
    for tool in session.tools.list():
        if tool.tool_name in gone:
            tool.delete()
    for bundle in session.toolshed.bundle_info(session.logger):
        bundle.tools[:] = [tool for tool in bundle.tools if tool.name not in gone]
    favorites = session.ui.settings.favorites
    session.ui.settings.favorites = [name for name in favorites if name not in gone]
    session.ui.main_window.update_tools_menu(session)
    session.ui.main_window.update_favorites_menu(session)


def keep_fields_from_commands(commands):
    """Refuse the commands of a tool that end where a text field says so, and go on as it says."""
    run = commands.run

    def run_unless_typed(self, text, *arguments, **options):
        written = text.lower()
        if AFTER_COMMAND.search(text) and any(part in written for part in typed_commands()):
            refuse()
        return run(self, text, *arguments, **options)

    commands.run = run_unless_typed


def typed_commands():
    """What stands in text fields after the end of a command."""
    from Qt.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit

    for field in QApplication.allWidgets():
        if isinstance(field, QLineEdit):
            text = field.text()
        elif isinstance(field, (QPlainTextEdit, QTextEdit)):
            text = field.toPlainText()
        else:
            continue
        yield from filter(None, map(str.strip, AFTER_COMMAND.split(text.lower())[1:]))


def serve(session):
    """Take commands, one on each connection: text in, its log out."""
    from Qt.QtCore import QSocketNotifier

    door = socket.socket(socket.AF_UNIX)
    if os.path.exists(SOCKET):
        os.unlink(SOCKET)
    door.bind(SOCKET)
    door.listen()
    notifier = QSocketNotifier(door.fileno(), QSocketNotifier.Type.Read)

    def answer():
        visitor, _ = door.accept()
        with visitor:
            visitor.settimeout(VISIT_S)
            with contextlib.suppress(OSError):  # the visitor is gone
                visitor.sendall(run_commands(session, read_all(visitor)))

    notifier.activated.connect(answer)
    return door, notifier


def read_all(visitor):
    """What a visitor says until it has no more to say."""
    text = b""
    while len(text) < MOST_BYTES and (part := visitor.recv(65536)):
        text += part
    return text.decode("utf-8", "replace")


def run_commands(session, text):
    """Run each line; the reply is JSON: what was logged, and the error that ended it or None."""
    from chimerax.core.commands import run
    from chimerax.core.errors import NotABug
    from chimerax.core.logger import StringPlainTextLog

    with StringPlainTextLog(session.logger) as log:
        error = None
        try:
            for line in filter(str.strip, text.splitlines()):
                run(session, line)
        except NotABug as wrong:
            error = str(wrong)
        except Exception as wrong:  # a mistake of the program's, for whoever asked to see
            error = f"{type(wrong).__name__}: {wrong}"
        return json.dumps({"log": log.getvalue(), "error": error}).encode()


def load_state():
    """The module that reports, from where the daemon has laid it."""
    folder = os.environ.pop("PYTHONPATH").split(os.pathsep)[0]
    spec = importlib.util.spec_from_file_location("state", os.path.join(folder, "usercustomize.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    """Become the program; its own start-up scripts are the place from which the rest is begun."""
    sys.dont_write_bytecode = True
    interface = os.environ.pop("SCI_GYM_INTERFACE", "hybrid")
    descriptor = int(os.environ.pop("SCI_GYM_STATE_FD"))
    os.set_inheritable(descriptor, False)
    state, kept = load_state(), []
    from chimerax.core import startup

    def begin(session):
        close_doors(session, interface)
        kept.append(serve(session))
        state.watch(session, descriptor, interface)
        sys.addaudithook(keep_foreign_code_out)

    startup.run_user_startup_scripts = begin
    sys.argv = ["ChimeraX"]
    runpy.run_module("chimerax.core", run_name="__main__", alter_sys=True)


main()
