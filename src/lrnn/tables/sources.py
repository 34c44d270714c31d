"""Where rows come from that are not in memory: arrays on disk, files, functions."""

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from inspect import signature
from itertools import zip_longest
from math import prod
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import detached, is_array, to_numpy
from lrnn.tables.atomic import check_utf8
from lrnn.tables.frame import Columns, Frame, repeated
from lrnn.tables.messages import in_bytes
from lrnn.tables.types import check_kind, matrix_of, type_of_columns

__all__ = [
    "BLOCK_BYTES",
    "ArraySource",
    "Blocks",
    "NpyFile",
    "ParquetFiles",
    "Source",
    "block_height",
    "check_file",
    "check_memory",
    "damage_named",
    "lacking_memory",
    "npy_header",
    "read_ahead",
]

Item = TypeVar("Item")
BLOCK_BYTES = 1 << 26  # of a block of rows
BY_BLOCKS = "; a .npy, .parquet, .zarr or .h5 file is read block by block, if fit gets its name"


class Source(ABC):
    """Where rows of numbers come from, as they are.

    Attributes
    ----------
    name : str
        What messages call it.
    shape : (int, int)
        How many rows and columns there are.
    dtype : dtype
        The type of the numbers.
    columns : tuple of str or None
        Names of the columns, if they have any.
    in_any_order : bool
        Whether `take` can give any rows.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    sparse : bool
        Whether blocks are sparse matrices; the first one says it for all.
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    columns: tuple[str, ...] | None = None
    in_any_order: bool = False
    image_shape: tuple[int, ...] | None = None
    sparse: bool = False

    @property
    def parts(self) -> tuple[int, ...]:
        """Where reading may begin without reading what is before, and the number of rows."""
        return (0, self.shape[0])

    @abstractmethod
    def blocks(self, first: int, height: int) -> Iterator[Any]:
        """Consecutive rows from ``first`` on, at most ``height`` at a time."""

    def take(self, rows: NDArray[Any]) -> Any:
        """Some rows, in any order."""
        raise TypeError(f"{self.name} can only be read from the first row to the last")


def block_height(width: int, dtype: Any) -> int:
    """How many rows of that width and type make a block."""
    return max(1, BLOCK_BYTES // (width * int(np.dtype(dtype).itemsize)))


class ArraySource(Source):
    """An array on disk that is read in slices: a memory map, a dataset of Zarr or HDF5.

    With ``images``, axes beyond the second are those of images.
    """

    in_any_order = True

    def __init__(self, array: Any, name: str = "X", *, images: bool = False) -> None:
        self.name = name
        self.dtype = np.dtype(array.dtype)
        if self.dtype.kind not in "biuf":
            raise ValueError(f"{name!r} holds {self.dtype}, not numbers")
        shape = tuple(map(int, array.shape))
        if images and len(shape) > 2:
            self.image_shape = shape[1:]
            shape = shape[0], prod(shape[1:])
        self.shape = _two_dimensional(shape, name)
        chunks = getattr(array, "chunks", None)
        self._chunk = int(chunks[0]) if chunks else 1
        self._array = array

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Slices of whole chunks, where these are not too long."""
        height = max(height // self._chunk * self._chunk, min(height, self._chunk))
        while first < self.shape[0]:
            last = min((first // height + 1) * height, self.shape[0])
            yield self._rows(self._array, slice(first, last))
            first = last

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows."""
        if isinstance(self._array, np.ndarray):
            return self._rows(self._array, rows)
        wanted, back = np.unique(rows, return_inverse=True)  # in order, for HDF5
        return self._rows(getattr(self._array, "oindex", self._array), wanted)[back]

    def _rows(self, array: Any, which: Any) -> NDArray[Any]:
        try:
            block = np.asarray(array[which])
        except MemoryError as error:
            raise lacking_memory(self.name, error, block=True) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the disk
            line = " ".join(str(error).split())
            raise ValueError(f"{self.name!r} is damaged, and cannot be read: {line}") from None
        return block.reshape(-1, self.shape[1])


class NpyFile(Source):
    """A .npy file, of which only the rows that are needed are ever read."""

    in_any_order = True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        shape, self._by_columns, self.dtype, self._start = npy_header(path)
        if len(shape) > 2:
            self.image_shape = shape[1:]
            shape = shape[0], prod(shape[1:])
        self.shape = _two_dimensional(shape, self.name)
        self._path = path

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows, by plain reads: these use no more memory than a block."""
        if self._by_columns:
            array = np.load(self._path, mmap_mode="r")
            yield from ArraySource(array, images=True).blocks(first, height)
            return
        width = self.shape[1] * self.dtype.itemsize
        with open(self._path, "rb", buffering=0) as file:
            file.seek(self._start + first * width)
            while first < self.shape[0]:
                block = np.empty((min(height, self.shape[0] - first), self.shape[1]), self.dtype)
                _fill(
                    file,
                    block.reshape(-1).view(np.uint8).data,
                    f"{self.name!r}, rows from {first} on",
                )
                yield block
                first += len(block)

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows."""
        return np.asarray(np.load(self._path, mmap_mode="r")[rows]).reshape(-1, self.shape[1])


class ParquetFiles(Source, Columns):
    """A Parquet file or a folder of them, read row group by row group.

    Columns that pandas wrote as the index of a table are beside its columns.
    """

    columns: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._paths = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
        if not self._paths:
            raise ValueError(f"{self.name!r} holds no .parquet files")
        self._counts, kinds = [], []
        self._groups: list[int] = []
        self._newest: dict[Path, Any] = {}
        for part in self._paths:
            with _reading_parquet(part) as fragment:
                names, fields, beside = _columns(fragment.physical_schema)
                self._counts.append(fragment.metadata.num_rows)
                self._groups += [group.num_rows for group in fragment.row_groups]
            twice = repeated(names)
            if twice is not None:
                raise ValueError(f"{str(part)!r} has more than one column {twice!r}")
            if not self.columns:
                self.columns, self.beside = names, beside
            elif names != self.columns:
                raise ValueError(f"{str(part)!r} has other columns than {self._paths[0].name}")
            kinds.append([_type(field) for field in fields])
        self.shape = _two_dimensional((sum(self._counts), len(names)), self.name)
        self.rows = self.shape[0]
        self._kinds, self._fields = kinds, fields

    @cached_property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """The type of the numbers; an error, if a column holds none."""
        found = []
        for path, kinds in zip(self._paths, self._kinds, strict=True):
            for field, kind in zip(self._fields, kinds, strict=True):
                if kind.kind not in "biuf":
                    raise ValueError(
                        f"{str(path)!r}: column {field.name!r} holds {field.type}, not numbers"
                    )
            found.append(type_of_columns(kinds, self.columns, repr(str(path))))
            check_kind(found[-1], found[0], repr(str(path)))
        together = np.result_type(*found)
        return np.dtype(np.float64) if together.kind == "b" else together

    @property
    def holds_numbers(self) -> bool:
        """Whether all columns do."""
        return all(kind.kind in "biuf" for kinds in self._kinds for kind in kinds)

    @property
    def parts(self) -> tuple[int, ...]:
        """Where row groups begin."""
        return tuple(np.cumsum([0, *self._groups]).tolist())

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows."""
        return map(self._matrix, self._batches(first, height, self.columns))

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """Rows in order, with columns of any kind."""
        names = (*self.columns, *self.beside)
        for batch in self._batches(first, block_height(self.shape[1], np.float64), names):
            yield Frame(names, tuple(map(_cells, batch.columns)), first)
            first += batch.num_rows

    def table(self) -> Any:
        """All of it as a table of pyarrow, with its types, its index and what else it tells."""
        import pyarrow
        from pyarrow import parquet

        parts = [parquet.ParquetFile(path).read() for path in self._paths]
        return (
            parts[0]
            if len(parts) == 1
            else pyarrow.concat_tables(parts, promote_options="permissive")
        )

    def _batches(self, first: int, height: int, names: Sequence[str]) -> Iterator[Any]:
        """Consecutive rows; those before ``first`` are read, if they share its row group."""
        for path, count in zip(self._paths, self._counts, strict=True):
            if first >= count:
                first -= count
                continue
            with _reading_parquet(path) as fragment:
                fragment = self._newest.get(path, fragment)  # which knows its metadata already
                self._newest = {path: fragment}
                groups = list(fragment.row_groups)
                while groups and first >= groups[0].num_rows:
                    first -= groups.pop(0).num_rows
                for group in groups:  # one by one: who ends early has not read more
                    for batch in fragment.subset(row_group_ids=[group.id]).to_batches(
                        columns=list(names), batch_size=height, batch_readahead=1
                    ):
                        kept = batch.slice(first)
                        first = max(0, first - batch.num_rows)
                        if kept.num_rows:
                            yield kept

    def _matrix(self, batch: Any) -> NDArray[Any]:
        columns = [c.cast("float64") if str(c.type) == "bool" else c for c in batch.columns]
        matrix = np.column_stack([c.to_numpy(zero_copy_only=False) for c in columns])
        if matrix.dtype.kind == "f" != self.dtype.kind:
            return matrix  # whole numbers, some of which are missing, are floats with NaN
        return matrix.astype(self.dtype, copy=False)


class Blocks(Source):
    """A function that gives an iterator of blocks of rows, each time it is called.

    Parameters
    ----------
    factory : callable
        Without arguments. Blocks are matrices: NumPy's, pandas', torch's or SciPy's sparse ones.
        Frames have the same columns in the same order. Masked cells are NaN, as missing ones are.
    shape : (int, int), optional
        How many rows and columns there are in all. Without, they are counted in a first pass.

    Examples
    --------
    >>> parts = [np.zeros((3, 2)), np.ones((4, 2))]
    >>> Blocks(lambda: iter(parts)).shape
    (7, 2)
    """

    def __init__(
        self, factory: Callable[[], Iterator[Any]], shape: tuple[int, int] | None = None
    ) -> None:
        self.name = getattr(factory, "__name__", "X")
        self._factory = factory
        self._given: Any = None
        self._labels: list[Any] | None = None
        first = next(iter(self._each()), None)
        if first is None:
            raise ValueError(f"{self.name}() gives no blocks; each call should give all of them")
        self.dtype, self.sparse = np.dtype(first.dtype), sparse.issparse(first)
        if self._labels and all(isinstance(label, str) for label in self._labels):
            self.columns = tuple(self._labels)
        if shape is None:
            shape = (sum(block.shape[0] for block in self._each()), first.shape[1])
        self.shape = _two_dimensional(shape, self.name)

    def blocks(self, first: int, height: int) -> Iterator[Any]:
        """The blocks as they come, those that are too long in parts."""
        for block in self._each():
            rows = block.shape[0]
            for start in range(min(first, rows), rows, height):
                yield block[start : start + height]
            first = max(0, first - rows)

    def _each(self) -> Iterator[Any]:
        for number, block in enumerate(self._called()):
            self._check_labels(number, block)
            if sparse.issparse(block):
                yield sparse.csr_array(block)
                continue
            if hasattr(block, "columns"):
                matrix = matrix_of(block)
            else:
                block = detached(block, f"block {number + 1} of {self.name}()")
                matrix = to_numpy(block) if is_array(block) else np.asarray(block)
            if matrix.ndim != 2:
                raise ValueError(
                    f"{self.name}() gives a block of the shape {matrix.shape} (block "
                    f"{number + 1}); each should be rows × attributes: one row is row[None, :]"
                )
            yield matrix

    def _called(self) -> Iterable[Any]:
        """What the function gives, if that is an iterable of blocks, and not the one it gave."""
        try:
            signature(self._factory).bind()
        except TypeError as error:
            raise TypeError(
                f"X is a function, {self.name}, that cannot be called without arguments "
                f"({error}); give one that can, such as lambda: blocks_of(path)"
            ) from None
        except ValueError:
            pass  # of a compiled function, nothing is known
        found = self._factory()
        if is_array(found) or sparse.issparse(found) or hasattr(found, "columns"):
            raise TypeError(
                f"{self.name}() gives a {type(found).__name__}; it should give an iterator of "
                "blocks, such as iter([X]); or give X itself, not a function"
            )
        if not isinstance(found, Iterable):
            raise TypeError(
                f"{self.name}() gives {found!r:.100}; it should give an iterator of blocks, each "
                "time it is called (is there a yield, or a return, in it?)"
            )
        if found is self._given and isinstance(found, Iterator):
            raise TypeError(
                f"{self.name}() gives the same {type(found).__name__} each time, which can be read "
                "only once; it should make a new one: lambda: (block for block in blocks)"
            )
        self._given = found
        return found

    def _check_labels(self, number: int, block: Any) -> None:
        """Columns go by position: frames must have the same ones, in the same order."""
        labels = list(block.columns) if hasattr(block, "columns") else None
        if labels == list(range(len(labels or ()))):  # as pandas counts columns without names
            labels = None
        if number == 0:
            self._labels = labels
        if labels == self._labels:
            return
        if labels is None or self._labels is None:
            here, first = "names" if labels else "no names", "names" if self._labels else "none"
        else:
            pairs = zip_longest(labels, self._labels, fillvalue="nothing")
            here, first = next((repr(a), repr(b)) for a, b in pairs if a != b)
        raise ValueError(
            f"{self.name}(): block {number + 1} has other columns than the first, {here} where "
            f"that has {first}; give all blocks the same columns, in one order"
        )


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, the next of which is being made while one is worked with."""
    ready: Queue[tuple[str, Any]] = Queue(maxsize=1)
    abandoned = Event()

    def put(what: str, value: Any) -> None:
        while not abandoned.is_set():
            try:
                ready.put((what, value), timeout=0.1)
                return
            except Full:
                continue  # look whether anyone still waits for it

    def read() -> None:
        try:
            for item in items:
                put("item", item)
                if abandoned.is_set():
                    return
            put("end", None)
        except BaseException as error:
            put("error", error)

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        while True:
            what, value = ready.get()
            if what == "error":
                raise value
            if what == "end":
                return
            yield value
            del value
    finally:
        abandoned.set()
        reader.join()


def check_file(path: Path) -> None:
    """Complain of what is neither a file nor a folder: a pipe would be waited for, for ever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"{str(path)!r} is neither a file nor a folder, but a pipe or a device; write what it "
            "gives to a file first"
        )


def lacking_memory(name: str, error: object, needed: int = 0, block: bool = False) -> MemoryError:
    """That there is not enough memory for a file, or a block of it, of ``needed`` bytes."""
    said = f"needs {in_bytes(needed)}" if needed else f"is too large: {error}".rstrip(": ")
    return MemoryError(f"{'a block of ' * block}{name!r} {said}{'' if block else BY_BLOCKS}")


def check_memory(name: str, needed: int) -> None:
    """Complain of a file that needs far more bytes than there are; nothing is used of them."""
    try:
        np.empty(needed, np.uint8)
    except (MemoryError, ValueError, OverflowError) as error:
        raise lacking_memory(name, error, needed) from None


def npy_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether it is stored by columns, type, and where numbers begin; all are there."""
    with damage_named(path, "is not a .npy file, or damaged"), open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        read = read if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if min(shape, default=0) < 0:
            raise ValueError(f"its shape is {shape}")
        start = file.tell()
    if dtype.kind not in "biuf":
        raise ValueError(f"{str(path)!r} holds {dtype}, not numbers")
    promised = start + prod(shape) * dtype.itemsize
    if path.stat().st_size < promised:
        raise ValueError(
            f"{str(path)!r} is cut off: its header promises {promised:,} bytes, and there are "
            f"{path.stat().st_size:,}"
        )
    return shape, bool(by_columns), dtype, start


@contextmanager
def damage_named(path: Path, said: str, needed: int = 0) -> Iterator[None]:
    """Turn whatever a damaged file leads to, anywhere in its reader, into one clear error.

    Memory that does not suffice is not the file's fault: of ``needed`` bytes, if that is known.
    """
    check_file(path)
    with open(path, "rb") as file:
        file.read(1)  # what fails here is not the content's fault
    try:
        yield
    except MemoryError as error:
        raise lacking_memory(str(path), error, needed) from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # of the disk; a place that cannot be is the content's fault
        line = " ".join(str(error).split())
        raise ValueError(f"{str(path)!r} {said}: {line}") from None


@contextmanager
def _reading_parquet(path: Path) -> Iterator[Any]:
    """A Parquet file as a fragment of a data set of pyarrow."""
    from pyarrow import dataset, fs

    check_utf8(path)
    with damage_named(path, "is damaged, or no Parquet file"):
        yield dataset.ParquetFileFormat().make_fragment(str(path), fs.LocalFileSystem())


def _columns(schema: Any) -> tuple[tuple[str, ...], list[Any], tuple[str, ...]]:
    """Names and fields of the columns, and names of those that pandas wrote as an index."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    fields = [field for field in schema if field.name not in index]
    beside = tuple(field.name for field in schema if field.name in index)
    return tuple(field.name for field in fields), fields, beside


def _two_dimensional(shape: tuple[int, ...], name: str) -> tuple[int, int]:
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"{name} should be rows × attributes, but its shape is {tuple(shape)}")
    return int(shape[0]), int(shape[1])


def _fill(file: Any, buffer: memoryview, where: str) -> None:
    """Read until a buffer is full."""
    while buffer:
        got = file.readinto(buffer)
        if not got:
            raise ValueError(f"{where}: the file ends too early; it was cut off or is changing")
        buffer = buffer[got:]


def _type(field: Any) -> np.dtype[Any]:
    """The type of a column's numbers; that of objects, if it holds none."""
    try:
        kind: np.dtype[Any] = np.dtype(field.type.to_pandas_dtype())
    except (TypeError, NotImplementedError):
        return np.dtype(object)
    return kind


def _cells(column: Any) -> NDArray[Any]:
    """A column of Parquet as numbers, NaN where one is missing; or as text, and None."""
    kind = str(column.type)
    if kind == "bool" or kind.startswith("decimal"):
        column = column.cast("float64")
    found = column.to_numpy(zero_copy_only=False)
    if found.dtype.kind in "biuf":
        return np.asarray(found)
    texts = np.empty(len(column), dtype=object)
    for i, cell in enumerate(column.to_pylist()):
        texts[i] = cell if cell is None or isinstance(cell, str) else str(cell)
    return texts
