"""Run by root as a script: becomes an ordinary user who can read given paths, and executes a command.

    python _ordinary.py UID PATH... -- COMMAND...

Root would map to root in a user namespace, with root's rights on this host's files. Paths below folders that
only root may enter (such as /root) are shown through empty folders, in a mount namespace of its own. It
executes rather than forks, so that the command's parent is whoever started this script, and the parent-death
signal reaches it.
"""

import ctypes
import os
import sys

CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise what a C call left in errno."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Call the kernel's function of this name."""
    check(
        _libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {target}"
    )


def closed_folder(path: str) -> str:
    """The topmost folder on the way to `path` that others may not enter, or ""."""
    parts = path.strip("/").split("/")
    for count in range(1, len(parts) + 1):
        folder = "/" + "/".join(parts[:count])
        if not os.stat(folder).st_mode & 0o001:
            return folder
    return ""


def show(paths: list[str]) -> None:
    """Show paths below closed folders, and nothing else of those folders."""
    hidden = {path: closed for path in paths if (closed := closed_folder(path))}
    check(_libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    handles = {path: os.open(path, os.O_PATH) for path in hidden}
    for folder in sorted(set(hidden.values())):
        mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    for path, handle in handles.items():
        os.makedirs(path, 0o755, exist_ok=True)
        mount(f"/proc/self/fd/{handle}", path, "", MS_BIND | MS_REC)
        os.close(handle)


def main() -> None:
    """Become ordinary and execute."""
    user = int(sys.argv[1])
    end = sys.argv.index("--")
    os.umask(0o022)
    show(sys.argv[2:end])
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
