"""Where published files lie, whether they are what was published, and how they get there."""

import gzip
import hashlib
import io
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

from lrnn.datasets.dataset import File

VARIABLE = "LRNN_DATA_DIR"
CHUNK = 1 << 16  # bytes
PATIENCE = 30  # seconds without an answer
SLACK = 1_000_000  # bytes of an archive for headers and small files


def data_folder() -> Path:
    """The folder that LRNN_DATA_DIR names, or else lrnn's cache folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    import pooch  # type: ignore[import-untyped]

    return Path(pooch.os_cache("lrnn"))


def located(file: File) -> Path | None:
    """Where a file lies, as published or repacked; None if it is not here."""
    for name in filter(None, (file.path, file.repacked)):
        path = data_folder() / name
        if path.is_file():
            return path
    return None


def obtain(file: File) -> Path:
    """A published file, downloaded if it is not here and no folder is named to take it from.

    It is checked, except for an archive: `unpack` checks what is in it.
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
    """Refuse a file that is not the published one: cut off, damaged, or only of the same name."""
    with open(path, "rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found == file.sha256:
        return
    if file.members:
        unpack(path, file)  # packed in another way, perhaps
        return
    raise ValueError(
        f"{str(path)!r} is not the published file: it has {path.stat().st_size} bytes and the "
        f"SHA-256 {found[:12]}…, not {file.size} and {file.sha256[:12]}…; "
        f"`lrnn data fetch {file.owner}` puts the right one in its place"
    )


def unpack(path: Path, file: File) -> dict[str, memoryview]:
    """The members of a .tar.gz or .tar.xz by name, in memory, each checked by its SHA-256.

    Nothing is written, and other files in it are not looked at. An archive that unpacks to more
    than the published one is refused before it fills the memory.
    """
    limit = sum(member.size for member in file.members) + SLACK
    found = {}
    try:
        with (lzma.open if path.suffix == ".xz" else gzip.open)(path) as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            raise ValueError(f"it unpacks to more than {limit} bytes")
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            places = {info.name: info.offset_data for info in archive}
        for member in file.members:
            if member.name not in places:
                raise ValueError(f"it lacks {member.name!r}")
            found[member.name] = memoryview(content)[places[member.name] :][: member.size]
            if hashlib.sha256(found[member.name]).hexdigest() != member.sha256:
                raise ValueError(f"{member.name!r} has another SHA-256 than the published file")
    except Exception as error:  # a damaged archive may raise any error in any of its readers
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk
        raise ValueError(
            f"{str(path)!r} is not the published archive, or damaged: {error}; "
            f"`lrnn data fetch {file.owner}` gets the right one"
        ) from None
    return found


def download(file: File, show: bool | None = None) -> Path:
    """Fetch a file into the data folder; it appears there whole and checked, or not at all.

    There is a bar on standard error, by default if that is a terminal.
    """
    import pooch

    from lrnn.progress import work_bar

    path = data_folder() / file.path
    by_hand = f"try again, or get the file in another way and put it at {str(path)!r}"
    pooch.get_logger().setLevel("WARNING")
    registry = pooch.create(
        data_folder(), "", registry={file.path: file.sha256}, urls={file.path: file.address}
    )
    try:
        with work_bar(file.path, file.size, show) as report:
            downloader = pooch.HTTPDownloader(
                progressbar=_Meter(file, report), chunk_size=CHUNK, timeout=PATIENCE,
                headers={"Accept-Encoding": "identity"},  # the bytes as they were published
            )  # fmt: skip
            registry.fetch(file.path, downloader=downloader)
    except OSError as error:
        if error.errno is not None or isinstance(error, PermissionError):  # of the disk
            raise
        answer = getattr(error, "response", None)
        reason = type(error).__name__ if answer is None else f"it answered {answer.status_code}"
        raise ConnectionError(f"{file.address} cannot be fetched ({reason}); {by_hand}") from None
    except ValueError:  # the checksum is wrong
        raise ValueError(
            f"{file.address} gave another file than the published one (its SHA-256 is not "
            f"{file.sha256[:12]}…), which was not kept; {by_hand}"
        ) from None
    path.chmod(0o644)  # the download is made for its owner only
    return path


class _Meter:
    """Counts bytes that arrive, as pooch asks for it, and stops a server that sends without end."""

    def __init__(self, file: File, report: Callable[[float], None]) -> None:
        self.total = 0
        self._done, self._size, self._report = 0, file.size, report

    def update(self, count: int) -> None:
        self._done += count
        if self._done > self._size + CHUNK:
            raise ValueError("more bytes than the file has")
        self._report(min(self._done, self._size))

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass
