"""Every public method on every kind of rows, in every type of numbers: the answer is NumPy's.

A cell of this grid is one method on one kind of rows in one type (and on one device). It gives what
NumPy rows of that type give. A test is one row of cells; it names all that fail.
"""

import base64
import copy
import inspect
import pickle
import re
import warnings
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import (
    LRNNAutoencoder,
    Moment,
    bounds,
    checkpoints,
    frontier,
    load,
    score_entries,
    streaming,
    widths,
)
from lrnn.arrays import backend_of
from lrnn.rows.checks import SaturationWarning
from naming import naming

SHAPE = (40, 6)
DTYPES = ["float64", "float32", "uint8"]
TOLERANCE = {"float64": 1e-6, "float32": 2e-3, "uint8": 2e-3}  # of the largest number
WEIGHTS = np.arange(SHAPE[0]) % 4 / 2  # some rows weigh nothing
OTHER = {"float64": "float32", "float32": "float64", "uint8": "float64"}

pytestmark = [
    pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning"),
]


@cache
def rows_of(dtype):
    """Rows of rank 3, a tenth of them zero; as levels, 255 is 1."""
    rng = np.random.default_rng(0)
    values = rng.random((SHAPE[0], 3)) @ rng.random((3, SHAPE[1]))
    values /= values.max()
    values[values < 0.15] = 0
    found = np.round(values * 255).astype(np.uint8) if dtype == "uint8" else values.astype(dtype)
    found.flags.writeable = False
    return found


# Kinds of rows: functions of a NumPy array, and of a folder for files.


def numpy_by_rows(values, folder):
    return np.array(values, order="C")


def numpy_by_columns(values, folder):
    return np.array(values, order="F")


def numpy_read_only(values, folder):
    found = np.array(values)
    found.flags.writeable = False
    return found


def numpy_strided(values, folder):
    return np.repeat(np.repeat(values, 2, axis=0), 2, axis=1)[::2, ::2]


def list_of_rows(values, folder):
    return list(values)


def list_of_lists(values, folder):
    return values.tolist()


def csr_array(values, folder):
    return sparse.csr_array(values)


def csr_matrix(values, folder):
    return sparse.csr_matrix(values)


def csc_array(values, folder):
    return sparse.csc_array(values)


def csc_matrix(values, folder):
    return sparse.csc_matrix(values)


def coo_array(values, folder):
    return sparse.coo_array(values)


def coo_matrix(values, folder):
    return sparse.coo_matrix(values)


def dataframe(values, folder):
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])


def nullable_dataframe(values, folder):
    """Of pandas' own types of numbers, which may be missing."""
    name = values.dtype.newbyteorder("=").name.capitalize().replace("Ui", "UI")
    name = name.replace("Bool", "boolean")
    return dataframe(values, folder).astype(name)


def dataframe_of_arrow(values, folder):
    return dataframe(values, folder).astype(f"{values.dtype.newbyteorder('=').name}[pyarrow]")


def sparse_dataframe(values, folder):
    return dataframe(values, folder).astype(pd.SparseDtype(values.dtype, values.dtype.type(0)))


def npy_path(values, folder):
    np.save(folder / "rows.npy", values)
    return str(folder / "rows.npy")


def npy_path_by_columns(values, folder):
    np.save(folder / "rows.npy", np.asfortranarray(values))
    return folder / "rows.npy"


def memory_map(values, folder):
    return np.load(npy_path(values, folder), mmap_mode="r")


def large_memory_map(values, folder):
    return memory_map(values, folder)  # the test lowers the size from which a map is large


def parquet_path(values, folder):
    dataframe(values, folder).to_parquet(folder / "rows.parquet", row_group_size=7)
    return folder / "rows.parquet"


def parquet_folder(values, folder):
    (folder / "parts").mkdir(exist_ok=True)
    for i, part in enumerate(np.array_split(values, 3)):
        dataframe(part, folder).to_parquet(folder / "parts" / f"{i}.parquet")
    return str(folder / "parts")


def zarr_array(values, folder):
    zarr = pytest.importorskip("zarr", reason="pip install zarr")
    store = str(folder / "rows.zarr")
    chunks = (11, values.shape[1])
    array = zarr.create_array(
        store=store, shape=values.shape, dtype=values.dtype, chunks=chunks, overwrite=True
    )
    array[:] = values
    return zarr.open(store, mode="r")


def zarr_path(values, folder):
    zarr_array(values, folder)
    return folder / "rows.zarr"


def hdf5_path(values, folder):
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(folder / "rows.h5", "w") as file:
        file.create_dataset("data", data=values, chunks=(11, values.shape[1]))
    return str(folder / "rows.h5")


def hdf5_dataset(values, folder):
    path = hdf5_path(values, folder)
    return pytest.importorskip("h5py", reason="pip install 'lrnn[files]'").File(path, "r")["data"]


def function_of_blocks(values, folder):
    return lambda: iter(np.array_split(values, 3))


def function_of_sparse_blocks(values, folder):
    return lambda: map(sparse.csr_array, np.array_split(values, 3))


def function_of_frames(values, folder):
    return lambda: (dataframe(part, folder) for part in np.array_split(values, 3))


def function_of_nullable_frames(values, folder):
    return lambda: (nullable_dataframe(part, folder) for part in np.array_split(values, 3))


def dask_array(values, folder):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    return da.from_array(values, chunks=(13, values.shape[1]))


def dask_array_by_columns(values, folder):
    return dask_array(values, folder).rechunk((13, 2))


def dask_dataframe(values, folder):
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    return dd.from_pandas(dataframe(values, folder), npartitions=3)


def dask_nullable_dataframe(values, folder):
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    return dd.from_pandas(nullable_dataframe(values, folder), npartitions=3)


def torch_tensor(values, folder, device="cpu"):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    return torch.asarray(np.array(values), device=device)


def torch_tensor_with_gradient(values, folder):
    return torch_tensor(values, folder).requires_grad_()


def torch_tensor_on_cuda(values, folder):
    return torch_tensor(values, folder, "cuda")


def array_api_strict(values, folder):
    return pytest.importorskip("array_api_strict", reason="pip install 'lrnn[test]'").asarray(
        np.array(values)
    )


def cupy_array(values, folder):
    cupy = pytest.importorskip("cupy", reason="CuPy is for CUDA devices")
    return cupy.asarray(values)


ON_HOST = [
    numpy_by_rows, numpy_by_columns, numpy_read_only, numpy_strided, list_of_rows, list_of_lists,
    csr_array, csr_matrix, csc_array, csc_matrix, coo_array, coo_matrix, dataframe,
    nullable_dataframe, dataframe_of_arrow, sparse_dataframe,
    memory_map, large_memory_map, npy_path, npy_path_by_columns, parquet_path, parquet_folder,
    zarr_path, zarr_array, hdf5_path, hdf5_dataset,
    function_of_blocks, function_of_sparse_blocks, function_of_frames,
    function_of_nullable_frames,
]  # fmt: skip
WHERE_THEY_ARE = [
    dask_array, dask_array_by_columns, dask_dataframe, dask_nullable_dataframe,
    torch_tensor, torch_tensor_with_gradient, array_api_strict,
]  # fmt: skip
ON_CUDA = [torch_tensor_on_cuda, cupy_array]
FLOATS_ONLY = {list_of_lists, torch_tensor_with_gradient}  # Python's numbers have no width


# Methods: functions of a case, whose answer is compared.


@dataclass(frozen=True)
class Case:
    """Rows of one kind, and how to work on them."""

    kind: Any
    dtype: str
    device: str | None
    folder: Path

    @cached_property
    def rows(self):
        return self._made(rows_of(self.dtype), "rows")

    @cached_property
    def rows_of_another_type(self):
        """The same rows in another type."""
        return self._made(rows_of(OTHER[self.dtype]), "other")

    @cached_property
    def codes(self):
        """What the reference makes of the rows, as rows of the same kind."""
        return self._made(reference(self.dtype).transform(rows_of(self.dtype)), "codes")

    def _made(self, values, name):
        (self.folder / name).mkdir(exist_ok=True)
        return self.kind(values, self.folder / name)

    def model(self, hidden=3, **settings):
        settings = {"max_iter": 10, "batch_size": 16, "random_state": 0} | settings
        return LRNNAutoencoder(hidden, device=self.device, **settings)

    @cached_property
    def trained(self):
        """A model of these rows, which no method changes."""
        return self.model().fit(self.rows)

    def reference(self):
        """A model of NumPy rows, on the device of this case."""
        return copy.deepcopy(reference(self.dtype)).set_params(device=self.device)


@cache
def reference(dtype):
    return LRNNAutoencoder(3, max_iter=10, random_state=0).fit(rows_of(dtype))


def error_of(case, **settings):
    return case.model(**settings).fit(case.rows).reconstruction_err_


def both_errors(case, **settings):
    model = case.model(**settings).fit(case.rows)
    return [model.reconstruction_err_, model.corrupted_err_]


def moment_of(case):
    found = Moment.of(case.rows, WEIGHTS, device=case.device)
    return np.concatenate([found.gram, [found.column_sums, found.low, found.high]])


def of_moment(case):
    return case.model().fit(Moment.of(case.rows)).reconstruct(rows_of(case.dtype))


def rows_in(page):
    """Those that a live page holds."""
    found = re.search(r'"rows": {"type": "f4", "data": "(.*?)"}', page.html)
    return np.frombuffer(base64.b64decode(found[1]), dtype="<f4").astype(np.float64)


def audited(model, case):
    standing = model.audit(case.rows).standing
    return np.log([standing.error, standing.variance, standing.bound])  # each as accurate


def twice(case):
    return case.model().partial_fit(case.rows).partial_fit(case.rows).reconstruction_err_


def of_another_type(case):
    return (
        case.model()
        .partial_fit(case.rows)
        .partial_fit(case.rows_of_another_type)
        .reconstruction_err_
    )


def after_fit(case):
    model = case.reference()
    with pytest.warns(UserWarning, match=naming("partial_fit", "Moment.of")):
        return model.partial_fit(case.rows).reconstruction_err_


def part_by_part(case):
    model = case.model(forget=50)
    for _ in range(3):
        model.partial_fit(case.rows)
    return model.moment_.gram


def kept_rows(case):
    model = case.model(moment="implicit")
    return model.partial_fit(case.rows).partial_fit(case.rows).reconstruction_err_


def saved_and_loaded(case):
    case.trained.save(case.folder / "model.safetensors")
    return load(case.folder / "model.safetensors").reconstruct(rows_of(case.dtype))


def pickled(case):
    return pickle.loads(pickle.dumps(case.trained)).transform(rows_of(case.dtype))


def steady_state(case):
    model = case.trained
    return model.to_network().steady_state(model.arrivals(rows_of(case.dtype)))


def with_checkpoints(case, times=1):
    path = case.folder / f"checkpoint {times}"
    for _ in range(times):
        model = checkpoints.fit(case.model(), case.rows, path, every=0)
    return model.reconstruction_err_


def written(case, write):
    write(case.reference(), case.rows, case.folder / "written.npy")
    return np.load(case.folder / "written.npy")


def curve(found):
    return [number for point in found.points for number in (point.error, point.test_error or 0)]


def frontier_of(case, X, X_test=None):
    settings = {"penalties": 2, "passes": 1, "max_iter": 5, "random_state": 0}
    return curve(frontier(X, 3, X_test=X_test, device=case.device, **settings))


def widths_of(case):
    found = widths(case.rows, [1, 2], folds=1, max_iter=5, device=case.device)
    return [number for p in found.points for number in (p.error, p.standard_error)]


def as_torch(case):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    module = case.trained.to_torch()
    values = rows_of(case.dtype) / (255 if case.dtype == "uint8" else 1)
    return module(torch.tensor(values, dtype=next(module.parameters()).dtype))


IMPLICIT = {"moment": "implicit", "max_iter": 2}  # each step reads all rows many times


METHODS = {
    "fit": error_of,
    "fit: implicit moment": partial(error_of, **IMPLICIT),
    "fit: deep": partial(error_of, hidden=(4, 3)),
    "fit: then NumPy": lambda case: case.trained.transform(rows_of(case.dtype)),
    "fit: with weights": lambda case: (
        case.model().fit(case.rows, sample_weight=WEIGHTS).reconstruction_err_
    ),
    "fit: implicit, with weights": lambda case: (
        case.model(**IMPLICIT).fit(case.rows, sample_weight=WEIGHTS).reconstruction_err_
    ),
    "fit: moment": of_moment,
    "Moment.of": moment_of,
    "score: with weights": lambda case: case.reference().score(case.rows, sample_weight=WEIGHTS),
    "fit_transform": lambda case: case.model().fit_transform(case.rows),
    "transform": lambda case: case.reference().transform(case.rows),
    "transform: of its own rows": lambda case: case.trained.transform(case.rows),
    "transform: to pandas": lambda case: (
        case.reference().set_output(transform="pandas").transform(case.rows)
    ),
    "transform: refined": lambda case: case.reference().transform(case.rows, refine=2),
    "reconstruct": lambda case: case.reference().reconstruct(case.rows),
    "inverse_transform": lambda case: case.reference().inverse_transform(case.codes),
    "score": lambda case: case.reference().score(case.rows),
    "score_samples": lambda case: case.reference().score_samples(case.rows),
    "score: other type": lambda case: case.reference().score(case.rows_of_another_type),
    "audit": lambda case: audited(case.reference(), case),
    "audit: of its own rows": lambda case: audited(case.trained, case),
    "arrivals": lambda case: case.reference().arrivals(case.rows),
    "live": lambda case: rows_in(case.reference().live(case.rows, rows=5)),
    "components_": lambda case: case.trained.components_,
    "to_network": lambda case: case.trained.to_network().rates,
    "to_network: steady state": steady_state,
    "save": saved_and_loaded,
    "pickle": pickled,
    "to_torch": as_torch,
    "checkpoints.fit": with_checkpoints,
    "checkpoints.fit: resumed": partial(with_checkpoints, times=2),
    "streaming.encode": partial(written, write=streaming.encode),
    "streaming.encode: refined": partial(written, write=partial(streaming.encode, refine=1)),
    "streaming.reconstruct": partial(written, write=streaming.reconstruct),
    "bounds.svd": lambda case: bounds.svd(case.rows, 2),
    "bounds.unit_rate": lambda case: bounds.unit_rate(case.rows, 1),
    "bounds.variance": lambda case: bounds.variance(case.rows),
    "frontier: tested on": lambda case: frontier_of(case, rows_of(case.dtype), case.rows),
    "fit: unit rates": partial(error_of, rates="unit", max_iter=3),
    "fit: as printed": partial(error_of, solver="minibatch", max_iter=3),
    "fit: as printed, deep": partial(error_of, hidden=(4, 3), solver="minibatch", max_iter=3),
    "fit: fine-tuned": partial(error_of, fine_tune=2),
    "fit: inhibition": partial(error_of, inhibition=True, fine_tune=3),
    "fit: early stopping": partial(error_of, inhibition=True, fine_tune=3, early_stopping=True),
    "fit: masked": partial(both_errors, corruption=("mask", 0.5)),
    "fit: noisy, implicit moment": partial(both_errors, corruption=("noise", 0.1), **IMPLICIT),
    "fit: noisy, inhibition": partial(
        both_errors, corruption=("noise", 0.1), inhibition=True, fine_tune=3
    ),
    "partial_fit": lambda case: case.model().partial_fit(case.rows).reconstruction_err_,
    "partial_fit: twice": twice,
    "partial_fit: another type": of_another_type,
    "partial_fit: after fit": after_fit,
    "partial_fit: forgetting": part_by_part,
    "partial_fit: rows are kept": kept_rows,
    "partial_fit: inhibition": lambda case: (
        case.model(inhibition=True).partial_fit(case.rows).reconstruction_err_
    ),
    "frontier": lambda case: frontier_of(case, case.rows),
    "widths": widths_of,
    "score_entries": lambda case: score_entries(case.trained, case.rows),
}


def host(found):
    """Answers of any kind, as NumPy's float64."""
    if hasattr(found, "compute"):
        found = found.compute()
    if hasattr(found, "detach"):
        found = found.detach().cpu()
    if hasattr(found, "get") and type(found).__module__.startswith("cupy"):
        found = found.get()
    return np.asarray(found, dtype=np.float64)


ANSWERS: dict[tuple[str, str], Any] = {}


@pytest.fixture
def answer(tmp_path_factory):
    """NumPy's answers on the host, each computed once."""

    def known(name, dtype):
        if (name, dtype) not in ANSWERS:
            case = Case(numpy_by_rows, dtype, None, tmp_path_factory.mktemp("answers"))
            ANSWERS[name, dtype] = host(METHODS[name](case))
        return ANSWERS[name, dtype]

    return known


def fault(method, case, expected):
    """What is wrong with a cell, in a line; None if nothing is."""
    try:
        found = host(method(case))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.150}"
    if found.shape != expected.shape:
        return f"has the shape {found.shape}, not {expected.shape}"
    apart = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-12)
    return None if apart <= TOLERANCE[case.dtype] else f"differs by {apart:.2g}"


def check(case, answer, methods=METHODS):
    faults = {}
    for name, method in methods.items():
        expected = answer(name, case.dtype)
        if (wrong := fault(method, case, expected)) is not None:
            faults[name] = wrong
    if faults:
        listed = "\n".join(f"  {name}: {wrong}" for name, wrong in faults.items())
        pytest.fail(
            f"{len(faults)} of {len(methods)} cells of {case.kind.__name__} × "
            f"{case.dtype} fail:\n{listed}",
            pytrace=False,
        )


@pytest.fixture(autouse=True)
def little_of_everything(request, monkeypatch, dask_here):
    """Maps are large from the first byte on, where that is the kind; Dask works here."""
    kind = getattr(request.node, "callspec", None) and request.node.callspec.params.get("kind")
    if kind is large_memory_map:
        monkeypatch.setattr("lrnn.tables.kinds.SMALL_MAP", 0)


def named(function):
    return getattr(function, "__name__", function)


def pairs(kinds):
    """Kinds × types, as parameters of a test."""
    return [(k, t) for k in kinds for t in DTYPES if not (t == "uint8" and k in FLOATS_ONLY)]


HERE = pairs(ON_HOST + WHERE_THEY_ARE)
SENT = pairs(ON_HOST)
THERE = pairs(ON_CUDA)


HERE_QUICKLY = {  # one type of each kind, all types in turn; the others are slow
    kind: DTYPES[0 if kind in FLOATS_ONLY else number % len(DTYPES)]
    for number, kind in enumerate(ON_HOST + WHERE_THEY_ARE)
}


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        pytest.param(*cell, marks=() if HERE_QUICKLY[cell[0]] == cell[1] else pytest.mark.slow)
        for cell in HERE
    ],
    ids=named,
)
def test_every_method(kind, dtype, tmp_path, answer):
    check(Case(kind, dtype, None, tmp_path), answer)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        pytest.param(*cell, marks=() if number % 10 == 0 else pytest.mark.slow)
        for number, cell in enumerate(SENT)
    ],
    ids=named,
)
def test_every_method_on_a_device(kind, dtype, tmp_path, answer, monkeypatch):
    """PyTorch's CPU stands for a GPU."""
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    device = backend_of(torch.empty(0))
    monkeypatch.setattr("lrnn.rows.validation.backend_named", lambda name: device)
    check(Case(kind, dtype, "cuda", tmp_path), answer)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), SENT, ids=named)
def test_every_method_on_a_gpu(kind, dtype, tmp_path, answer):
    torch_tensor_on_cuda(rows_of(dtype), tmp_path)  # or it is skipped
    check(Case(kind, dtype, "cuda", tmp_path), answer)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "dtype"), THERE, ids=named)
def test_every_method_on_arrays_of_a_gpu(kind, dtype, tmp_path, answer):
    check(Case(kind, dtype, None, tmp_path), answer)


def test_the_grid_is_whole(record_property):
    """No public method is left out, and nobody makes the grid smaller unseen."""
    methods = {
        name for name, member in inspect.getmembers(LRNNAutoencoder)
        if not name.startswith("_") and getattr(member, "__module__", "").startswith("lrnn")
    }  # fmt: skip
    for module in (bounds, checkpoints, streaming):
        short = module.__name__.rpartition(".")[2]
        functions = [n for n in module.__all__ if inspect.isfunction(getattr(module, n))]
        methods |= {f"{short}.{name}" for name in functions}
    covered = {name.partition(":")[0] for name in METHODS}
    in_memory = {"impute"}  # which fills cells of full tables alone: see test_missing
    assert methods - covered == in_memory
    assert {"frontier", "widths", "score_entries"} <= covered
    methods_in_all = len(METHODS)
    host_cells, gpu_cells = (len(HERE + SENT) * methods_in_all, len(SENT + THERE) * methods_in_all)
    print(f"\nthe grid has {host_cells:,} cells, and {gpu_cells:,} on a GPU")
    record_property("cells", host_cells)
    assert (host_cells, gpu_cells) == (11_286, 5_415)


# Levels: one rule for every container.


LEVELS = ["uint8", "uint16", ">u2"]
HOLDING_LEVELS = [k for k in ON_HOST + WHERE_THEY_ARE if k not in FLOATS_ONLY]
OF_THIS_MACHINE = {  # their libraries know only this machine's order of bytes
    csr_array, csr_matrix, csc_array, csc_matrix, coo_array, coo_matrix, parquet_path,
    parquet_folder, function_of_sparse_blocks, torch_tensor, array_api_strict,
    nullable_dataframe, dataframe_of_arrow, sparse_dataframe, function_of_nullable_frames,
    dask_nullable_dataframe,
}  # fmt: skip
every_level = pytest.mark.parametrize(
    ("kind", "dtype"),
    [(k, t) for k in HOLDING_LEVELS for t in LEVELS if t != ">u2" or k not in OF_THIS_MACHINE],
    ids=named,
)


def learnt(X):
    return LRNNAutoencoder(3, max_iter=10, tol=0, random_state=0).fit(X)


@every_level
def test_the_highest_level_is_one(kind, dtype, tmp_path):
    values = rows_of("float64")
    X = kind(np.round(values * np.iinfo(dtype).max).astype(dtype), tmp_path)
    model, expected = learnt(X), learnt(values)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=2e-2)
    np.testing.assert_allclose(host(expected.transform(X)), expected.transform(values), atol=5e-3)
    assert bounds.variance(X) == pytest.approx(bounds.variance(values), rel=5e-3)


@every_level
def test_zeros_and_ones_are_no_levels(kind, dtype, tmp_path):
    """Where no number is above 1, 1 is 1; and it is said."""
    values = (rows_of("float64") > 0.4).astype(np.float64)
    X = kind(values.astype(dtype), tmp_path)
    with pytest.warns(UserWarning, match=naming(np.dtype(dtype).name, 0, 1)):
        model = learnt(X)
    expected = learnt(values)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=2e-3)


@pytest.mark.parametrize("kind", HOLDING_LEVELS, ids=named)
def test_the_highest_of_all_rows_decides(kind, tmp_path):
    """Not that of a block: the first two thirds have no level above 1."""
    values = np.array(rows_of("uint8"))
    values[:28] = values[:28] > 100
    model, expected = learnt(kind(values, tmp_path)), learnt(values)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=2e-3)


# Levels among other numbers


def columns_of_several_types(levels, other):
    """A frame whose last column is of another type."""
    frame = dataframe(levels, None)
    return frame.astype({frame.columns[-1]: other})


FRAMES = {
    "memory": lambda frame, folder: frame,
    "function": lambda frame, folder: lambda: (frame.iloc[i : i + 9] for i in range(0, 40, 9)),
    "parquet": lambda frame, folder: parquet_of(frame, folder),
    "dask": lambda frame, folder: dask_of(frame),
}
of_frames = pytest.mark.parametrize("held", FRAMES.values(), ids=FRAMES)


def parquet_of(frame, folder):
    frame.to_parquet(folder / "frame.parquet")
    return folder / "frame.parquet"


def dask_of(frame):
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    return dd.from_pandas(frame, npartitions=3)


@of_frames
def test_columns_of_levels_of_two_types_are_refused(held, tmp_path):
    """What is 1 in one column is not in the other."""
    X = held(columns_of_several_types(rows_of("uint8"), np.uint16), tmp_path)
    with pytest.raises(ValueError, match=naming("uint8", "'c0'", "uint16", "'c5'")):
        learnt(X)


@of_frames
@pytest.mark.parametrize("other", [np.float64, np.float32, bool, np.int64])
def test_levels_beside_other_columns_are_numbers(held, other, tmp_path):
    """Zeros and ones in columns of several types mean what they say."""
    cells = (rows_of("float64") > 0.4).astype(np.uint8)
    X = held(columns_of_several_types(cells, other), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = learnt(X)
    expected = learnt(cells.astype(np.float64))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=2e-3)


@of_frames
@pytest.mark.filterwarnings(
    "ignore::lrnn.rows.checks.SaturationWarning"
)  # more than once, of blocks
def test_levels_beside_other_columns_are_cut_off_with_a_warning(held, tmp_path):
    X = held(columns_of_several_types(rows_of("uint8"), np.float64), tmp_path)
    with pytest.warns(SaturationWarning, match=naming("row 0", ("column 0", "column 'c0'"))):
        learnt(X)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "kind",
    [csr_array, csr_matrix, csc_array, csc_matrix, coo_array, coo_matrix, sparse_dataframe,
     function_of_sparse_blocks],
    ids=named,
)  # fmt: skip
def test_cells_of_every_sparse_kind_may_be_missing(kind, dtype, tmp_path):
    """Stored NaN are; what is not stored is, if the model says so. (A frame knows what is NaN.)"""
    values = np.array(rows_of(dtype))
    values[np.random.default_rng(0).random(SHAPE) < 0.1] = np.nan
    X = kind(values, tmp_path)
    unstored = np.where(values == 0, np.nan, values)
    for missing, full in (("allow", values), ("unstored", unstored)):
        full = values if kind is sparse_dataframe else full
        settings = {"max_iter": 5, "random_state": 0, "missing": missing}
        model, expected = (LRNNAutoencoder(3, **settings).fit(data) for data in (X, full))
        for name in ("transform", "reconstruct", "impute", "score"):
            found, known = host(getattr(model, name)(X)), getattr(expected, name)(full)
            np.testing.assert_allclose(found, known, atol=TOLERANCE[dtype], err_msg=name)


@of_frames
@pytest.mark.filterwarnings("ignore::lrnn.rows.checks.SaturationWarning", "ignore:.*uint")
@pytest.mark.parametrize("kind", ["UInt8", "UInt16", "Int64", "Float32"])
def test_missing_numbers_have_a_place(held, kind, tmp_path):
    frame = dataframe(rows_of("uint8") // 200, tmp_path).astype(kind)
    frame.loc[17, "c2"] = pd.NA
    with pytest.raises(ValueError, match=naming("NaN", "row 17", "column 'c2'")):
        learnt(held(frame, tmp_path))


SEVERAL = [("uint8", "float64"), ("float32", "uint8"), ("uint8", "uint16"), ("uint8", "bool")]


def blocks_of(first, second):
    values = {kind: rows_of("uint8") // (255 if "float" in kind else 1) for kind in (first, second)}
    return [values[first][:20].astype(first), values[second][20:].astype(second)]


def parquet_parts(parts, folder):
    for i, part in enumerate(parts):
        dataframe(part, folder).to_parquet(folder / f"{i}.parquet")
    return folder


def dask_parts(parts, folder):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    delayed = pytest.importorskip("dask", reason="pip install 'lrnn[dask]'").delayed
    return da.concatenate(
        [da.from_delayed(delayed(p), shape=p.shape, dtype=parts[0].dtype) for p in parts]
    )


@pytest.mark.parametrize("second", SEVERAL, ids="-".join)
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_blocks_of_levels_and_others_are_refused(second, wrap):
    parts = [wrap(part) for part in blocks_of(*second)]
    with pytest.raises(ValueError, match=naming("row 20", *second)):
        learnt(lambda: iter(parts))


@pytest.mark.parametrize("second", SEVERAL, ids="-".join)
def test_files_of_levels_and_others_are_refused(second, tmp_path):
    X = parquet_parts(blocks_of(*second), tmp_path)
    with pytest.raises(ValueError, match=naming("1.parquet", *second)):
        learnt(X)


@pytest.mark.parametrize("second", SEVERAL, ids="-".join)
def test_dask_blocks_of_other_types_than_promised_are_refused(second, tmp_path):
    with pytest.raises(ValueError, match=naming("row 20", *second)):
        learnt(dask_parts(blocks_of(*second), tmp_path))


@pytest.mark.parametrize("kind", HOLDING_LEVELS, ids=named)
@pytest.mark.parametrize("method", ["transform", "reconstruct", "score", "partial_fit"])
def test_levels_are_refused_by_a_model_of_zeros_and_ones(kind, method, tmp_path):
    with pytest.warns(UserWarning, match=naming("uint8", 0, 1)):
        model = learnt((rows_of("uint8") > 100).astype(np.uint8))
    with pytest.raises(ValueError, match="above 1"):
        host(getattr(model, method)(kind(rows_of("uint8"), tmp_path)))


@pytest.mark.parametrize(
    "kind", [k for k in ON_HOST + WHERE_THEY_ARE if k not in FLOATS_ONLY], ids=named
)
def test_truth_values_are_zeros_and_ones(kind, tmp_path):
    """Whatever holds them, and without a word."""
    truth = rows_of("float64") > 0.4
    model = learnt(rows_of("uint8"))
    expected = model.transform(truth.astype(np.float32))
    X = kind(truth, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")
        np.testing.assert_allclose(host(model.transform(X)), expected, atol=1e-6)
        assert learnt(X).white_ is None


# What is not as it seems


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, function_of_sparse_blocks], ids=named)
def test_entries_for_one_cell_are_added_up(kind, tmp_path):
    """Each is below 1, and their sum above."""
    values = np.array(rows_of("float64"))
    twice = sparse.csr_array(values)
    doubled = sparse.csr_array(
        (np.repeat(twice.data, 2) * 0.8, np.repeat(twice.indices, 2), 2 * twice.indptr), twice.shape
    )
    assert not doubled.has_canonical_format
    X = (lambda: iter([doubled])) if kind is function_of_sparse_blocks else doubled
    full = np.minimum(1.6 * values, 1)
    model = learnt(values)
    for method in ("transform", "reconstruct", "arrivals", "score"):
        with pytest.warns(SaturationWarning):
            found = getattr(model, method)(X)
        np.testing.assert_allclose(found, getattr(model, method)(full), atol=1e-12)
    assert not doubled.has_canonical_format  # the user's matrix is left as it was


def test_levels_for_one_cell_do_not_wrap_around():
    cells = (np.array([200, 100], dtype=np.uint8), np.array([3, 3]), np.array([0, 2]))
    with pytest.raises(ValueError, match=naming(300, 255)):
        learnt(rows_of("float64")).transform(sparse.csr_array(cells, shape=(1, 6)))


@pytest.mark.parametrize("fill", [0.5, np.nan, 1.0])
def test_sparse_frames_with_other_gaps_than_zero(fill):
    values = np.where(rows_of("float64") < 0.3, 0.5, rows_of("float64"))
    X = pd.DataFrame(values).astype(pd.SparseDtype(float, fill))
    model = learnt(values)
    np.testing.assert_allclose(model.transform(X), model.transform(values))


IN_PLACE = [memory_map, large_memory_map, npy_path, zarr_path, hdf5_path, parquet_path,
            function_of_blocks, dask_array]  # fmt: skip


@pytest.mark.filterwarnings("ignore:solver=.minibatch.")
@pytest.mark.parametrize("kind", IN_PLACE, ids=named)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "score"])
def test_bad_cells_have_their_place_in_all_rows(kind, method, tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.rows.base.BUFFER_BYTES", 1)  # rows are taken in any order
    values = np.array(rows_of("float64"))
    values[33, 4] = np.nan
    model = learnt(rows_of("float64")).set_params(solver="minibatch", max_iter=1)
    with pytest.raises(ValueError, match=naming("NaN", "row 33", ("column 4", "column 'c4'"))):
        host(getattr(model, method)(kind(values, tmp_path)))


def test_dates_and_groups_are_no_numbers(tmp_path):
    frame = dataframe(rows_of("float64"), tmp_path)
    frame["c3"] = pd.Timestamp(2016, 9, 26)
    with pytest.raises(ValueError, match=r"'c3'.* datetime64"):
        learnt(frame)
    with pytest.raises(ValueError, match=r"X.* datetime64"):
        learnt(np.zeros((9, 3), dtype="M8[s]"))
    h5py = pytest.importorskip("h5py", reason="pip install h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data"] = rows_of("float64")
        with pytest.raises(TypeError, match=naming("'data'")):
            learnt(file)


def test_text_in_a_dask_frame_is_named():
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    frame = dataframe(rows_of("float64"), None).assign(c3="x")
    with pytest.raises(ValueError, match=naming("X", "'c3'")):
        learnt(dd.from_pandas(frame, npartitions=2))


def test_tensors_of_rare_kinds():
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    model, X = learnt(rows_of("float64")), torch.tensor(np.array(rows_of("float64")))
    with pytest.raises(TypeError, match=naming("torch.sparse_coo", "X.to_dense()")):
        model.transform(X.to_sparse())
    half = X.to(torch.bfloat16)
    expected = model.transform(half.to(torch.float64).numpy())
    np.testing.assert_allclose(model.transform(half).numpy(), expected, atol=1e-5)


def test_a_missing_level_is_not_taken_for_zeros_and_ones(tmp_path):
    frame = nullable_dataframe(rows_of("uint8"), tmp_path)
    frame.iloc[20, 3] = pd.NA
    frame.to_parquet(tmp_path / "a.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=naming("NaN", "row 20", "column 'c3'")):
            learnt(tmp_path / "a.parquet")
