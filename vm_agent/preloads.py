"""What a program loads before its own code runs: the caller's start-up module, and our witness.

C is compiled to a library for LD_PRELOAD. Python becomes the module `usercustomize`, which the interpreter
itself imports when it starts, from a folder of its own on the program's PYTHONPATH.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Dict, Mapping, Optional, Sequence

from sci_gym_protos import vm_agent_pb2 as pb
from sci_gym_vm_agent.errors import InvalidArgument
from sci_gym_vm_agent.witness import SOURCE as WITNESS

_COMPILERS = ("tcc", "gcc", "cc")
_COMPILE_S = 30.0
_MAX_CHARS = 2**20


def check_preload(request: pb.LaunchRequest) -> None:
    """Refuse start-up modules that cannot be.

    Raises:
        InvalidArgument: there are two, one is too long, or it is no Python.
    """
    if request.preload_c and request.preload_py:
        raise InvalidArgument("launch.preload_py: a program has one start-up module, and preload_c is given")
    for name, source in (("preload_c", request.preload_c), ("preload_py", request.preload_py)):
        if len(source) > _MAX_CHARS:
            raise InvalidArgument(f"launch.{name}: more than {_MAX_CHARS} characters")
    try:
        compile(request.preload_py, "preload_py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidArgument(f"launch.preload_py: is no Python ({error})") from error


class Preloads:
    """Lays out what programs load, below a folder that cells see; a source is compiled once."""

    def __init__(self, folder: Path) -> None:
        """Put everything below `folder`."""
        self._folder = folder
        self._libraries: Dict[str, asyncio.Task[Path]] = {}

    async def lay_out(self, request: pb.LaunchRequest) -> Mapping[str, str]:
        """The variables that make a program load its start-up module, and the witness where that compiles.

        Raises:
            InvalidArgument: the module does not compile.
        """
        sources = [WITNESS, *filter(None, (request.preload_c,))]
        witness, *modules = await asyncio.gather(*map(self._compile, sources), return_exceptions=True)
        for module in modules:
            if isinstance(module, BaseException):
                raise module
        libraries = [library for library in (witness, *modules) if isinstance(library, Path)]
        variables = {"LD_PRELOAD": ":".join(map(str, libraries))} if libraries else {}
        if request.preload_py:
            variables["PYTHONPATH"] = self._lay_out_python(request)
        return variables

    async def _compile(self, source: str) -> Path:
        if source not in self._libraries:
            self._libraries[source] = asyncio.create_task(_compile(source, self._folder))
        return await self._libraries[source]

    def _lay_out_python(self, request: pb.LaunchRequest) -> str:
        place = Path(tempfile.mkdtemp(dir=self._folder))
        place.chmod(0o755)
        (place / "usercustomize.py").write_text(request.preload_py)
        others = request.env.get("PYTHONPATH", "")
        return os.pathsep.join(filter(None, (str(place), others)))


async def _compile(source: str, folder: Path) -> Path:
    """Compile C to a shared library that cells can load."""
    with tempfile.NamedTemporaryFile("w", suffix=".c", dir=folder, delete=False) as file:
        file.write(source)
    target = Path(file.name).with_suffix(".so")
    problems = []
    for compiler in _COMPILERS:
        problem = await _run_compiler(
            [compiler, "-shared", "-fPIC", "-nostdlib", "-o", str(target), file.name]
        )
        if problem is None:
            return target
        problems.append(f"{compiler}: {problem}")
    raise InvalidArgument(
        f"launch.preload_c: cannot be compiled ({'; '.join(problems)}); apt-get install tcc"
    )


async def _run_compiler(command: Sequence[str]) -> Optional[str]:
    """Run a compiler; None when it succeeded, else what it said."""
    try:
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    except FileNotFoundError:
        return "is not installed"
    try:
        _, stderr = await asyncio.wait_for(process.communicate(), _COMPILE_S)
    except asyncio.TimeoutError:
        return f"not done within {_COMPILE_S:.0f} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return None if process.returncode == 0 else stderr.decode("utf-8", "replace")[:500]
