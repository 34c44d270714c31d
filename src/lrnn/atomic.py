"""Writing files whole or not at all."""

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # a system without such locks: the last writer wins, with a whole file
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file such that whatever happens, it holds the old content or all of the new."""
    path = path.resolve()  # through a link, the file it leads to is replaced
    try:
        _write(path, content)
    except OSError as error:  # a full disk does not say which file
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove a file, if it is there, and what writers that were killed have left of it."""
    path = path.resolve()
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        leftover.unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Be the only process that works on a file; another one gets an error at once.

    The lock is a hidden file beside it, which the system unlocks however the process ends.
    """
    lock = path.resolve().with_name(f".{path.name}.lock")
    with _locked(lock, path):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _locked(lock: Path, path: Path) -> IO[str]:
    while True:
        try:
            file = lock.open("a")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(
                f"another process is working on {str(path)!r}; wait for it, or choose another name"
            ) from None
        if lock.exists() and os.path.samestat(lock.stat(), os.fstat(file.fileno())):
            return file
        file.close()  # whoever held it has just removed it
