"""Writing files whole or not at all, and never over what is read."""

import ctypes
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file such that whatever happens, it holds the old content or all of the new."""
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with in_place(path) as unfinished:
        unfinished.write_bytes(content)


@contextmanager
def in_place(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """A name to write a file (or a ``folder``) to; it gets its own name when it is complete.

    It is then on the disk, and has the mode of what it replaces. What writers of the same name
    that were killed have left is removed first.
    """
    path = path.resolve()  # through a link, the file it leads to is replaced
    if not folder:
        check_no_folder(path)
    try:
        sweep(path)
        with _hidden_folder(path) as hidden:
            unfinished = hidden / path.name
            yield unfinished
            _to_disk(unfinished)
            if path.exists():
                unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
            put_in_place(unfinished, path)
            _sync(path.parent)
    except OSError as error:  # a full disk does not say which file
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def sweep(path: Path) -> None:
    """Remove what writers of a file that were killed have left; what is being written stays."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}\.tmp")
    for leftover in [p for p in path.parent.glob(".*.tmp") if name.fullmatch(p.name)]:
        with suppress(OSError), _locked(leftover):
            replaced = leftover / f"{path.name}.old"
            if replaced.exists() and not path.exists():  # killed between two steps
                replaced.rename(path)
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink()


@contextmanager
def _hidden_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` that nobody sweeps away, and that is gone in the end."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"))
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            with suppress(OSError):  # where there are no locks nothing is swept away
                stack.enter_context(_locked(folder, wait=True))
            if folder.exists():  # else it was swept away before it was locked
                yield folder
                return


@contextmanager
def _locked(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock a file or folder, which the system unlocks however the process ends.

    An OSError says that somebody else has locked it, or that there are no such locks here.
    """
    if fcntl is None:
        raise OSError(errno.ENOTSUP, "no locks")
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _to_disk(path: Path) -> None:
    """See that a file, or all of a folder, is on the disk."""
    for inner in path.rglob("*") if path.is_dir() else ():
        _sync(inner)
    _sync(path)


def _sync(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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


def check_writable(path: Path) -> None:
    """Refuse a name that nothing can be written to; folders that are not there yet can be made.

    Only to try tells for sure: what is tried is what a writer begins with, and it leaves nothing.
    """
    target = path
    while not target.parent.exists():
        target = target.parent
    if not target.parent.is_dir():
        raise NotADirectoryError(f"{str(target.parent)!r} is a file; give the name of a folder")
    try:
        with _hidden_folder(target.resolve()):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def check_utf8(path: Path) -> None:
    """Refuse a name that pyarrow cannot take."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{str(path)!r}: pyarrow takes only names in UTF-8; give the file another name"
        ) from None


def check_no_folder(path: Path) -> None:
    """Refuse to replace a folder by a file."""
    if path.is_dir():
        what = "it is a folder, and what is in it would be lost; give another name"
        raise IsADirectoryError(errno.EISDIR, what, str(path))


def put_in_place(new: Path, path: Path) -> None:
    """Give a finished file or folder its name; what has that name now stays until then.

    A folder cannot be replaced in one step, so both exchange their names, in one step where the
    system can do that. The old one is then removed. A file replaces no folder.
    """
    if new.is_file():
        check_no_folder(path)
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
    sweep(path)
    path.unlink(missing_ok=True)


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
