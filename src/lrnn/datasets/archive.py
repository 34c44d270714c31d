"""Archives, read in memory by the exact names of their members: nothing is ever unpacked."""

import gzip
import hashlib
import lzma
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from lrnn.datasets.dataset import File, Member

SLACK = 1_000_000  # bytes for headers, and for small files that nobody asks for


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
