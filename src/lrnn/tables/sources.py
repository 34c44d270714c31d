"""Where rows come from that are not in memory: files, arrays on disk, functions, clusters."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

SMALL_MAP = 1 << 28  # bytes of a mapped array that is read like any other


Item = TypeVar("Item")
BLOCK_BYTES = 1 << 26  # of a block of rows, once they are floats


def block_height(width: int, dtype: np.dtype[Any]) -> int:
    """How many rows make a block."""
    return max(1, BLOCK_BYTES // (width * dtype.itemsize))


class Source:
    """Where rows of numbers come from, as they are."""

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    columns: tuple[str, ...] | None = None
    in_any_order = False

    def blocks(self, first: int, height: int) -> Iterator[Any]:
        """Consecutive rows from ``first`` on, at most ``height`` at a time."""
        raise NotImplementedError

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows."""
        raise NotImplementedError

    def identity(self) -> str:
        """By what one sees whether the rows are still the same."""
        raise NotImplementedError


class ArraySource(Source):
    """An array on disk that is read in slices: a memory map, a dataset of Zarr or HDF5."""

    in_any_order = True

    def __init__(self, array: Any, name: str = "X") -> None:
        self.name = name
        self.dtype = np.dtype(array.dtype)
        self.shape = _two_dimensional(tuple(array.shape), name)
        chunks = getattr(array, "chunks", None)
        self._chunk = int(chunks[0]) if chunks else 1
        self._array = array

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Slices of whole chunks, where these are not too long."""
        height = max(height // self._chunk * self._chunk, min(height, self._chunk))
        while first < self.shape[0]:
            last = min((first // height + 1) * height, self.shape[0])
            yield np.asarray(self._array[first:last])
            first = last

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows."""
        if isinstance(self._array, np.ndarray):
            return np.asarray(self._array[rows])
        wanted, back = np.unique(rows, return_inverse=True)  # in order, for HDF5
        return np.asarray(getattr(self._array, "oindex", self._array)[wanted])[back]

    def identity(self) -> str:
        """Its shape, its type, and the first and last row."""
        ends = np.asarray(self._array[:1]), np.asarray(self._array[-1:])
        total = hashlib.sha256(ends[0].tobytes() + ends[1].tobytes()).hexdigest()
        return f"{self.shape} {self.dtype.str} {total}"


class NpyFile(Source):
    """A .npy file, of which only the rows that are needed are ever read."""

    in_any_order = True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        with open(path, "rb") as file:
            try:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0
                read = read if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, by_columns, dtype = read(file)
            except ValueError as error:
                raise ValueError(f"{self.name!r} is not a .npy file, or damaged: {error}") from None
            self._start = file.tell()
        if dtype.kind not in "biuf":
            raise ValueError(f"{self.name!r} holds {dtype}, not numbers")
        self.shape = _two_dimensional(shape, self.name)
        promised = self._start + self.shape[0] * self.shape[1] * dtype.itemsize
        if path.stat().st_size < promised:
            raise ValueError(
                f"{self.name!r} is cut off: its header promises {promised:,} bytes, and there are "
                f"{path.stat().st_size:,}"
            )
        self.dtype = dtype
        self._by_columns = bool(by_columns)
        self._path = path

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows, by plain reads: these use no more memory than a block."""
        if self._by_columns:
            yield from ArraySource(np.load(self._path, mmap_mode="r")).blocks(first, height)
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
        return np.asarray(np.load(self._path, mmap_mode="r")[rows])

    def identity(self) -> str:
        """Its size, and when it was written."""
        return _file_identity(self._path)


class ParquetFiles(Source):
    """A Parquet file or a folder of them, read row group by row group."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            raise ValueError("reading Parquet needs pyarrow: pip install pyarrow") from None
        self.name = str(path)
        self._paths = sorted(path.glob("**/*.parquet")) if path.is_dir() else [path]
        if not self._paths:
            raise ValueError(f"{str(path)!r} holds no .parquet files")
        self._open = parquet.ParquetFile
        with _reading_parquet(self._paths[0]), self._open(self._paths[0]) as file:
            schema = file.schema_arrow
            self.dtype = np.result_type(*(_number(f, self._paths[0]) for f in schema))
        self.columns: tuple[str, ...] | None = tuple(schema.names)
        self._counts = []
        for part in self._paths:
            with _reading_parquet(part), self._open(part) as file:
                if tuple(file.schema_arrow.names) != self.columns:
                    raise ValueError(f"{str(part)!r} has other columns than {self._paths[0].name}")
                self._counts.append(file.metadata.num_rows)
        self.shape = _two_dimensional((sum(self._counts), len(self.columns)), self.name)

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows; those before ``first`` are read, if they share its row group."""
        for path, count in zip(self._paths, self._counts, strict=True):
            if first >= count:
                first -= count
                continue
            with _reading_parquet(path), self._open(path) as file:
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
                groups = list(range(len(sizes)))
                while groups and first >= sizes[groups[0]]:
                    first -= sizes[groups.pop(0)]
                for batch in file.iter_batches(height, row_groups=groups):
                    kept = batch.slice(first)
                    first = max(0, first - batch.num_rows)
                    if kept.num_rows:
                        yield self._matrix(kept)

    def _matrix(self, batch: Any) -> NDArray[Any]:
        matrix = np.column_stack([c.to_numpy(zero_copy_only=False) for c in batch.columns])
        if matrix.dtype.kind != self.dtype.kind:
            return matrix  # whole numbers, some of which are missing, are floats with NaN
        return matrix.astype(self.dtype, copy=False)

    def identity(self) -> str:
        """Sizes, and when they were written."""
        return " ".join(map(_file_identity, self._paths))


class Blocks(Source):
    """A function that gives an iterator of blocks of rows, each time it is called.

    Parameters
    ----------
    factory : callable
        Without arguments. Blocks are matrices: NumPy's, pandas' or SciPy's sparse ones.
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
        first = next(iter(self._each()), None)
        if first is None:
            raise ValueError(f"{self.name}() gives no blocks; each call should give all of them")
        self.dtype = np.dtype(first.dtype)
        self.columns: tuple[str, ...] | None = None
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

    def identity(self) -> str:
        """Only the shape is known."""
        return f"{self.shape} {self.dtype.str}"

    def _each(self) -> Iterator[Any]:
        for block in self._factory():
            if sparse.issparse(block):
                yield sparse.csr_array(block)
            else:
                yield block.to_numpy() if hasattr(block, "to_numpy") else np.asarray(block)


def open_file(path: str | os.PathLike[str]) -> Source:
    """A file, or a folder, as a source of rows: .npy, .parquet, .zarr, .h5 or .hdf5."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return NpyFile(path)
    if suffix == ".parquet" or (path.is_dir() and any(path.glob("**/*.parquet"))):
        return ParquetFiles(path)
    if suffix == ".zarr":
        return ArraySource(_opened("zarr", path), str(path))
    if suffix in (".h5", ".hdf5"):
        return ArraySource(_opened("h5py", path), str(path))
    raise ValueError(
        f"{str(path)!r} cannot be read block by block; .npy, .parquet (or a folder of such), "
        ".zarr, .h5 and .hdf5 can. Read it with lrnn.tables.read, if it fits in memory"
    )


def _opened(library: str, path: Path) -> Any:
    """The array of a Zarr store, or the only matrix (or "data") of an HDF5 file."""
    try:
        module = __import__(library)
    except ImportError:
        raise ValueError(f"reading {path.suffix} needs {library}: pip install {library}") from None
    try:
        opened = module.open(str(path), mode="r") if library == "zarr" else module.File(path, "r")
    except Exception as error:
        raise ValueError(f"{str(path)!r} is no {path.suffix} file, or damaged: {error}") from None
    if hasattr(opened, "dtype"):
        return opened
    arrays = {name: a for name, a in opened.items() if getattr(a, "ndim", 0) == 2}
    if "data" in arrays or len(arrays) == 1:
        return arrays.get("data", next(iter(arrays.values())))
    listed = ", ".join(arrays) or "no matrix"
    raise ValueError(f"{str(path)!r} holds {listed}: name the matrix to use 'data'")


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


def _file_identity(path: Path) -> str:
    stat = path.stat()
    return f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}"


def _number(field: Any, path: Path) -> np.dtype[Any]:
    try:
        kind: np.dtype[Any] = np.dtype(field.type.to_pandas_dtype())
    except (TypeError, NotImplementedError):
        kind = np.dtype(object)
    if kind.kind not in "biuf":
        raise ValueError(f"{str(path)!r}: column {field.name!r} holds {field.type}, not numbers")
    return kind


class _reading_parquet:  # noqa: N801
    """Turns pyarrow's own errors into one that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        with open(self._path, "rb") as file:
            file.read(1)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None and type(error).__module__.startswith("pyarrow"):
            line = " ".join(str(error).split())
            raise ValueError(f"{str(self._path)!r} is damaged: {line}") from None


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
