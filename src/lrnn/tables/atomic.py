"""Writing files whole or not at all, and never over what is read."""

import ctypes
import errno
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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


def check_apart(output: str | os.PathLike[str], *inputs: Any) -> None:
    """Refuse to write to what is read: the same file, also through a link, or one inside a folder.

    Inputs that are no names of files (data in memory, names of data sets) are passed over.
    """
    target = Path(output).resolve()
    for given in inputs:
        if not isinstance(given, str | os.PathLike) or not os.path.exists(given):
            continue
        source = Path(given).resolve()
        same = target == source or (target.exists() and target.samefile(source))
        if same or (source.is_dir() and source in target.parents):
            where = "is" if same else "would go into"
            raise ValueError(
                f"the output {os.fspath(output)!r} {where} the input {os.fspath(given)!r}; give "
                "another name, such that no data are lost"
            )


def put_in_place(new: Path, path: Path) -> None:
    """Give a finished file or folder its name; what has that name now stays until then.

    A folder cannot be replaced in one step, so both exchange their names, in one step where the
    system can do that. The old one is then removed.
    """
    if not path.is_dir():
        new.replace(path)
        return
    if not _exchanged(new, path):
        aside = new.with_name(f"{new.name}.old")
        path.rename(aside)
        try:
            new.rename(path)
        except BaseException:
            aside.rename(path)
            raise
        new = aside
    shutil.rmtree(new, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two names were exchanged in one step; not all systems can do that."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # of this kernel, or file system
        return False
    raise OSError(code, os.strerror(code), str(other))


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
    from filelock import FileLock, Timeout

    real = path.resolve()  # through a link, it is the same file
    name = real.with_name(f".{real.name}.lock")
    lock = FileLock(name, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise BlockingIOError(
            f"another process is working on {str(path)!r}; wait for it, or choose another name"
        ) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        yield
    finally:
        name.unlink(missing_ok=True)
        lock.release()
