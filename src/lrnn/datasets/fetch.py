"""Where published files lie, whether they are what was published, and how they get there."""

import gzip
import hashlib
import lzma
import os
import tarfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lrnn.datasets.dataset import File, Member

VARIABLE = "LRNN_DATA_DIR"
CHUNK = 1 << 16  # bytes
PATIENCE = 30  # seconds without an answer
SLACK = 1_000_000  # bytes of an archive for headers, and for small files that nobody asks for


def data_folder() -> Path:
    """The folder that LRNN_DATA_DIR names, or else lrnn's cache folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    import pooch  # type: ignore[import-untyped]

    return Path(pooch.os_cache("lrnn"))


def located(file: File) -> Path | None:
    """Where a file lies, under its own name or repacked; None if it is not here."""
    for name in (file.path, *file.repacked):
        path = data_folder() / name
        if path.is_file():
            return path
    return None


def obtain(file: File) -> Path:
    """A published file, downloaded if it is not here and no folder is named to take it from.

    It is checked, unless it is an archive: of that, what is read from it is.
    """
    path = located(file)
    if path is not None:
        if not file.members:
            check(path, file)
        return path
    if os.environ.get(VARIABLE):
        raise FileNotFoundError(
            f"there is no file {str(data_folder() / file.path)!r}; put it there with "
            f"`lrnn data fetch {file.owner}`, or unset {VARIABLE} to use the cache folder"
        )
    return download(file)


def check(path: Path, file: File) -> None:
    """Refuse what is not the published file: cut off, damaged, or another one of its name."""
    with open(path, "rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found == file.sha256:
        return
    if file.members:
        for _ in read_members(path, file):  # packed in another way, perhaps
            pass
        return
    size = path.stat().st_size
    raise ValueError(
        f"{str(path)!r} is not the published file: it has {size} bytes and the SHA-256 "
        f"{found[:12]}…, not {file.size} and {file.sha256[:12]}…; "
        f"`lrnn data fetch {file.owner}` puts the right one in its place"
    )


def download(file: File, show: bool | None = None) -> Path:
    """Fetch a file into the data folder; it appears there whole and checked, or not at all.

    There is a bar on standard error, by default if that is a terminal.
    """
    import pooch

    path = data_folder() / file.path
    pooch.get_logger().setLevel("WARNING")
    try:
        with _bar(file, show) as advance:
            pooch.retrieve(
                file.address,
                known_hash=file.sha256,
                fname=path.name,
                path=path.parent,
                downloader=pooch.HTTPDownloader(
                    progressbar=_Meter(file, advance),
                    chunk_size=CHUNK,
                    timeout=PATIENCE,
                    headers={"Accept-Encoding": "identity"},  # the bytes as they were published
                ),
            )
    except OSError as error:
        if error.errno is not None or isinstance(error, PermissionError):  # of the disk
            raise
        answer = getattr(error, "response", None)
        reason = type(error).__name__ if answer is None else f"it answered {answer.status_code}"
        raise ConnectionError(
            f"{file.address} cannot be fetched ({reason}); try again, or get the file in another "
            f"way and put it at {str(path)!r}"
        ) from None
    except ValueError:  # the sum is wrong
        raise ValueError(
            f"{file.address} gave another file than the published one (its SHA-256 is not "
            f"{file.sha256[:12]}…), which was not kept; try again, or get the file in another way "
            f"and put it at {str(path)!r}"
        ) from None
    path.chmod(0o644)  # the download is made for its owner only
    return path


@contextmanager
def _bar(file: File, show: bool | None) -> Iterator[Callable[[int], None]]:
    """A bar that moves by bytes."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    from lrnn.progress import bars_of

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    wanted = Console(stderr=True).is_terminal if show is None else show
    with bars_of(*columns, show=wanted) as progress:
        task = progress.add_task(file.path, total=file.size)
        yield lambda done: progress.update(task, completed=done)


class _Meter:
    """Counts what arrives, as pooch wants it, and stops a server that sends without end."""

    def __init__(self, file: File, advance: Callable[[int], None]) -> None:
        self.total = 0
        self._done, self._size, self._advance = 0, file.size, advance

    def update(self, count: int) -> None:
        self._done += count
        if self._done > self._size + CHUNK:
            raise ValueError("more bytes than the file has")
        self._advance(min(self._done, self._size))

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


# Archives are read in memory by the exact names of their members: nothing is ever unpacked.


def read_members(
    path: Path, file: File, parts: Collection[str] | None = None
) -> Iterator[tuple[Member, bytes]]:
    """The members of a .tar.gz or .tar.xz in the archive's order, each checked by its SHA-256.

    Everything else in the archive is passed over. One that would unpack to more than it should is
    refused before it does, so that a hostile one fills neither memory nor time.
    """
    members = [member for member in file.members if parts is None or member.part in parts]
    wanted = {member.name: member for member in members}
    opener = lzma.open if path.suffix == ".xz" else gzip.open
    try:
        with opener(path, "rb") as unpacked:
            stream: Any = _Bounded(unpacked, sum(member.size for member in file.members) + SLACK)
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                while wanted and (found := archive.next()) is not None:
                    if (member := wanted.pop(found.name, None)) is not None:
                        yield member, _content(archive, found, member)
        if wanted:
            raise ValueError(f"it lacks {min(wanted)!r}")
    except Exception as error:  # whatever a damaged archive leads to, anywhere in its readers
        if isinstance(error, OSError) and error.errno is not None:
            raise  # not the content's fault
        raise ValueError(
            f"{str(path)!r} is not the published archive, or damaged: {error}; `lrnn data "
            f"fetch {file.owner}` gets the right one"
        ) from None


def _content(archive: tarfile.TarFile, found: tarfile.TarInfo, member: Member) -> bytes:
    """What a member holds, if it is a file of the right length and sum."""
    if not found.isreg() or found.size != member.size:
        raise ValueError(f"{member.name!r} is no file of {member.size} bytes")
    reader = archive.extractfile(found)
    assert reader is not None
    content = reader.read()
    if hashlib.sha256(content).hexdigest() != member.sha256:
        raise ValueError(f"{member.name!r} has another SHA-256 than the published file")
    return content


class _Bounded:
    """A stream that goes forward only, and ends at a limit."""

    def __init__(self, stream: gzip.GzipFile | lzma.LZMAFile, limit: int) -> None:
        self._stream, self._limit = stream, limit

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, place: int) -> int:
        if place < self.tell():
            raise ValueError("its parts overlap")
        self._check(place)
        return self._stream.seek(place)

    def read(self, size: int) -> bytes:
        self._check(self.tell() + size)
        return self._stream.read(size)

    def _check(self, place: int) -> None:
        if place > self._limit:
            raise ValueError(f"it unpacks to more than {self._limit} bytes")
