"""Writing files whole or not at all, and never over what is read."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NO_LOCK = (OSError, NotImplementedError)  # somebody has it, or this file system has none


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file such that whatever happens, it holds the old content or all of the new."""
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with in_place(path) as unfinished:
        unfinished.write_bytes(content)


@contextmanager
def in_place(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """A name to write a file (or a ``folder``) to; it gets its own name when it is complete.

    It is then on the disk, and has the mode of what it replaces.
    """
    path = path.resolve()  # through a link, the file it leads to is replaced
    if not folder:
        check_no_folder(path)
    with _errors_of(path), _hidden_folder(path) as hidden:
        unfinished = hidden / path.name
        yield unfinished
        for inner in unfinished.rglob("*") if unfinished.is_dir() else ():
            _sync(inner)
        _sync(unfinished)
        if path.exists():
            unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
        put_in_place(unfinished, path)
        _sync(path.parent)


@contextmanager
def _hidden_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path``, gone in the end; while it is locked nobody sweeps it away.

    Those of writers that were killed are swept away first.
    """
    sweep(path)
    while True:
        with TemporaryDirectory(
            dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            with ExitStack() as stack:
                with suppress(*NO_LOCK):
                    stack.enter_context(_lock(folder / f"{path.name}.lock", 1))
                if folder.exists():  # else it was swept away before it was locked
                    yield folder
                    return


def sweep(path: Path) -> None:
    """Remove what writers of a file that were killed have left; what is being written stays."""
    for leftover in path.parent.glob(f".{escape(path.name)}.{'?' * 8}.tmp"):
        with suppress(*NO_LOCK), _lock(leftover / f"{path.name}.lock", 0):
            replaced = leftover / f"{path.name}.old"
            if replaced.exists() and not path.exists():  # killed between two steps
                replaced.rename(path)
            shutil.rmtree(leftover, ignore_errors=True)


def put_in_place(new: Path, path: Path) -> None:
    """Give a finished file or folder its name; what has that name now stays until then.

    A folder cannot be replaced in one step: the old one is set aside first. A file replaces none.
    """
    if new.is_file():
        check_no_folder(path)
    replaced = new.with_name(f"{new.name}.old")
    if path.is_dir():
        path.rename(replaced)
    try:
        new.replace(path)
    except BaseException:
        if replaced.exists():
            replaced.rename(path)
        raise


def _lock(path: Path, seconds: float) -> Any:
    """The lock that a file is, with the time to wait for it; however a process ends, it is free."""
    from filelock import FileLock

    return FileLock(path, timeout=seconds)


def _sync(path: Path) -> None:
    """See that a file or folder is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Errors of the system name this file, which a full disk does not."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


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
    with _errors_of(path), _hidden_folder(target.resolve()):
        pass


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


def remove(path: Path) -> None:
    """Remove a file, if it is there, and what writers that were killed have left of it."""
    path = path.resolve()
    sweep(path)
    path.unlink(missing_ok=True)


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Be the only process that works on a file; another one gets an error at once.

    The lock is a hidden file beside it.
    """
    real = path.resolve()  # through a link, it is the same file
    name = real.with_name(f".{real.name}.lock")
    lock = _lock(name, 0)
    try:
        lock.acquire()
    except TimeoutError:
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
