"""Where published files lie, whether they are what was published, and how they get there."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lrnn.datasets.dataset import File

VARIABLE = "LRNN_DATA_DIR"
CHUNK = 1 << 16  # bytes
PATIENCE = 30  # seconds without an answer


def data_folder() -> Path:
    """The folder that LRNN_DATA_DIR names, or else lrnn's cache folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    import pooch  # type: ignore[import-untyped]

    return Path(pooch.os_cache("lrnn"))


def located(file: File) -> Path | None:
    """Where a file lies, as published or repacked; None if it is not here."""
    for name in (file.path, file.repacked.get("path")):
        if name and (path := data_folder() / name).is_file():
            return path
    return None


def obtain(file: File) -> Path:
    """A checked file. It is downloaded if it is not here and no folder is named to take it from."""
    path = located(file)
    if path is not None:
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
    import pooch

    repacked = path.name == Path(file.repacked.get("path", "")).name
    expected = file.repacked["sha256"] if repacked else file.sha256
    found = pooch.file_hash(path)
    if found != expected:
        raise ValueError(
            f"{str(path)!r} is not the published file: it has {path.stat().st_size} bytes and the "
            f"SHA-256 {found[:12]}…, not {expected[:12]}…; "
            f"`lrnn data fetch {file.owner}` puts the right one in its place"
        )


def download(file: File, show: bool | None = None) -> Path:
    """Fetch a file into the data folder; it appears there whole and checked, or not at all.

    There is a bar on standard error, by default if that is a terminal.
    """
    import pooch

    path = data_folder() / file.path
    by_hand = f"try again, or get the file in another way and put it at {str(path)!r}"
    pooch.get_logger().setLevel("WARNING")
    registry = pooch.create(
        data_folder(), "", registry={file.path: file.sha256}, urls={file.path: file.address}
    )
    try:
        with _bar(file, show) as advance:
            downloader = pooch.HTTPDownloader(
                progressbar=_Meter(file, advance), chunk_size=CHUNK, timeout=PATIENCE,
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


@contextmanager
def _bar(file: File, show: bool | None) -> Iterator[Callable[[int], None]]:
    """A bar that moves by bytes."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    from lrnn.progress import bars_of

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(),
        TransferSpeedColumn(),
    )  # fmt: skip
    wanted = Console(stderr=True).is_terminal if show is None else show
    with bars_of(*columns, show=wanted) as progress:
        task = progress.add_task(file.path, total=file.size)
        yield lambda done: progress.update(task, completed=done)


class _Meter:
    """Counts bytes that arrive, as pooch asks for it, and stops a server that sends without end."""

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
