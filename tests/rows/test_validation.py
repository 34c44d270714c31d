"""What comes in: truth values, masks, tensors, and functions that give blocks."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat

from lrnn import LRNNAutoencoder, RandomNeuralNetwork, Scaling, bounds, checkpoints, load
from lrnn.datasets import read
from naming import naming

X = np.random.default_rng(0).random((40, 4)).round(2)
TRUTHS = X > 0.5
MASKED = np.ma.array(X, mask=X > 0.9)
FRAME = pd.DataFrame(X, columns=list("abcd"))


def fitted(rows, **settings):
    return LRNNAutoencoder(2, max_iter=3, random_state=0, **settings).fit(rows)


def written(folder, kind):
    """A file of truth values."""
    path = folder / f"a.{kind.rpartition(' ')[2]}"
    if kind == "npy":
        np.save(path, TRUTHS)
    elif kind == "npz":
        np.savez(path, data=TRUTHS)
    elif kind == "sparse npz":
        sparse.save_npz(path, sparse.csr_array(TRUTHS))
    elif kind.endswith("mat"):
        savemat(path, {"data": sparse.csc_array(TRUTHS) if kind == "sparse mat" else TRUTHS})
    elif kind == "csv":
        FRAME.gt(0.5).to_csv(path, index=False)
    elif kind == "parquet":
        FRAME.gt(0.5).to_parquet(path)
    elif kind == "h5":
        with pytest.importorskip("h5py", reason="pip install 'lrnn[files]'").File(
            path, "w"
        ) as file:
            file["data"] = TRUTHS
    else:
        zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
        zarr.create_array(store=str(path), shape=TRUTHS.shape, dtype=bool)[:] = TRUTHS
    return path


@pytest.mark.parametrize(
    "kind", ["npy", "npz", "sparse npz", "mat", "sparse mat", "csv", "parquet", "h5", "zarr"]
)
def test_truth_values_of_files_are_0_and_1(tmp_path, call, kind):
    path = written(tmp_path, kind)
    found = read(path).data
    full = found.toarray() if sparse.issparse(found) else found
    assert full.dtype == np.float64
    np.testing.assert_array_equal(full, TRUTHS)
    expected = LRNNAutoencoder(2, max_iter=3, random_state=0).fit(TRUTHS.astype(float))
    options = ("--hidden", 2, "--max-iter", 3, "--seed", 0, "--quiet")
    done = call("fit", path, "-o", tmp_path / "m.safetensors", *options)
    assert done.returncode == 0, done.stderr
    found = load(tmp_path / "m.safetensors").reconstruction_err_
    assert found == pytest.approx(expected.reconstruction_err_, rel=1e-9)


@pytest.mark.parametrize(
    "kind",
    [np.array, np.ma.array, sparse.csr_array, np.ndarray.tolist, pd.DataFrame,
     lambda X: pd.DataFrame(X).astype("boolean"), lambda X: lambda: iter([X[:9], X[9:]]),
     lambda X: lambda: iter([pd.DataFrame(X)])],
    ids=["array", "masked", "sparse", "list", "frame", "nullable frame", "blocks", "frames"],
)  # fmt: skip
@pytest.mark.parametrize("scale", [None, "auto"])
def test_truth_values_in_python_are_0_and_1(kind, scale):
    expected = fitted(TRUTHS.astype(float)).reconstruction_err_
    assert fitted(kind(TRUTHS), scale=scale).reconstruction_err_ == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_masked_cells_are_refused(tmp_path, dtype):
    model, rows = fitted(X), MASKED.astype(dtype)
    row, column = np.argwhere(rows.mask)[0]
    here = rows.mask[:, column].sum()
    counts = here, rows.mask.sum() - here
    said = naming("masked", f"row {row}", f"column {column}", *counts, "X.filled(0)")
    for work in (fitted, model.transform, model.score, bounds.svd, list_of_rows):
        arguments = (rows, 2) if work is bounds.svd else (rows,)
        with pytest.raises(ValueError, match=said):
            work(*arguments)
    with pytest.raises(ValueError, match=said):
        checkpoints.fit(LRNNAutoencoder(2), rows, tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=naming("masked", "row 0", "column 0")):
        model.inverse_transform(np.ma.array(model.transform(X), mask=True))


def list_of_rows(rows):
    return fitted(list(rows))


def test_masked_cells_elsewhere_are_missing_ones():
    row, column = np.argwhere(MASKED.mask)[0]
    with pytest.raises(ValueError, match=naming("NaN", f"row {row}", f"column {column}")):
        fitted(lambda: iter([MASKED[:20], MASKED[20:]]))
    with pytest.raises(ValueError, match=naming("missing", f"row {row}", f"column {column}")):
        Scaling.fit(MASKED, "minmax")
    scaled = Scaling.fit(X, "minmax").apply(MASKED)
    np.testing.assert_array_equal(np.isnan(scaled), MASKED.mask)
    network = RandomNeuralNetwork([1.0, 1.0], [[0, 0.5], [0, 0]])
    with pytest.raises(ValueError, match=naming("arrivals", "neuron 1", "nan")):
        network.steady_state(np.ma.array([0.1, 0.1], mask=[False, True]))


@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
def test_masked_cells_are_missing_where_a_scaling_fills_them():
    missing = np.where(MASKED.mask, np.nan, X)
    for rule in ("median", "drop"):
        scaling = Scaling.fit(missing, "minmax", missing=rule)
        expected = fitted(missing, scale=scaling)
        model = fitted(MASKED, scale=Scaling.fit(MASKED, "minmax", missing=rule))
        assert model.reconstruction_err_ == expected.reconstruction_err_
    codes = fitted(MASKED, scale=Scaling.fit(MASKED, missing="median")).transform(MASKED)
    same = fitted(missing, scale=Scaling.fit(missing, missing="median")).transform(missing)
    np.testing.assert_array_equal(codes, same)


def test_masked_arrays_without_masked_cells():
    assert fitted(np.ma.array(X)).reconstruction_err_ == fitted(X).reconstruction_err_


def test_masks_of_dask_arrays():
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    rows = da.from_array(X, chunks=(20, 4))
    with pytest.raises(ValueError, match=naming("NaN", "row", "column")):
        fitted(da.ma.masked_where(rows > 0.9, rows))


@pytest.mark.parametrize("scale", [None, "minmax"])
@pytest.mark.parametrize("blocks", [False, True])
def test_tensors_of_rare_kinds(tmp_path, scale, blocks):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")

    def given(tensor):
        return (lambda: iter([tensor[:20], tensor[20:]])) if blocks else tensor

    tensor = torch.tensor(X)
    expected = fitted(X, scale=scale).reconstruction_err_
    needing = tensor.clone().requires_grad_()
    assert fitted(given(needing), scale=scale).reconstruction_err_ == pytest.approx(expected)
    model = LRNNAutoencoder(2, max_iter=3, random_state=0, scale=scale)
    checkpoints.fit(model, given(needing), tmp_path / "checkpoint")
    assert model.reconstruction_err_ == pytest.approx(expected)
    for kind in (torch.bfloat16, torch.float8_e5m2):
        short = tensor.to(kind)
        same = fitted(short.float().numpy(), scale=scale)
        found = fitted(given(short), scale=scale)
        assert found.reconstruction_err_ == pytest.approx(same.reconstruction_err_, rel=1e-4)
        codes = np.asarray(found.transform(given(short)))
        np.testing.assert_allclose(codes, same.transform(short.float().numpy()), atol=1e-3)


@pytest.mark.filterwarnings("ignore:.*prototype|.*deprecated|.*quantize")
def test_tensors_that_are_no_matrices_of_numbers(tmp_path):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    tensor = torch.tensor(X)
    layout = "torch.sparse_coo", "X.to_dense()"
    for scale in (None, "minmax"):
        with pytest.raises(TypeError, match=naming("X", *layout)):
            fitted(tensor.to_sparse(), scale=scale)
    with pytest.raises(TypeError, match=naming("X", *layout)):
        checkpoints.fit(LRNNAutoencoder(2), tensor.to_sparse(), tmp_path / "checkpoint")
    with pytest.raises(TypeError, match=naming("block 2", "<lambda>()", *layout)):
        fitted(lambda: iter([X, tensor.to_sparse()]))
    with pytest.raises(TypeError, match=naming("X", "device", "meta")):
        fitted(tensor.to("meta"))
    with pytest.raises(TypeError, match=naming("X", "nested")):
        fitted(torch.nested.nested_tensor([tensor[0], tensor[1, :2]]))


@pytest.mark.parametrize("scale", [None, "minmax"])
def test_frames_of_blocks_have_the_same_columns(scale):
    def frames(other):
        return lambda: iter([FRAME[:20], other])

    model = fitted(frames(FRAME[20:]), scale=scale)
    assert model.reconstruction_err_ == pytest.approx(fitted(X, scale=scale).reconstruction_err_)
    assert list(model.feature_names_in_) == list("abcd")
    for other, named in (
        (FRAME[20:][list("bacd")], ("'b'", "'a'")),
        (FRAME[20:].rename(columns={"c": "z"}), ("'z'", "'c'")),
        (FRAME[20:][list("abc")], ("'d'",)),
        (X[20:], ("names",)),
    ):
        with pytest.raises(ValueError, match=naming("block 2", "columns", *named)):
            fitted(frames(other), scale=scale)
    with pytest.raises(ValueError, match=naming("block 2", "columns", "names")):
        fitted(lambda: iter([X[:20], FRAME[20:]]))
    with pytest.raises(ValueError, match=naming("X", "'b'", "'a'")):
        model.transform(lambda: iter([FRAME[list("bacd")]]))
    assert not hasattr(fitted(lambda: iter([pd.DataFrame(X), X])), "feature_names_in_")


def one_row():
    yield X
    yield X[0]


def nothing():
    pass


ONCE = (block for block in [X[:20], X[20:]])


@pytest.mark.parametrize(
    ("rows", "error", "named"),
    [
        (one_row, ValueError, ("one_row()", "(4,)", "block 2", "row[None, :]")),
        (nothing, TypeError, ("nothing()", None, "iterator")),
        (lambda: ONCE, TypeError, ("<lambda>()", "generator", "once")),
        (lambda: X, TypeError, ("<lambda>()", "ndarray", "iter([X])")),
        (lambda: FRAME, TypeError, ("<lambda>()", "DataFrame", "iter([X])")),
        (lambda path: iter([X]), TypeError, ("X", "<lambda>", "'path'")),
        ((b for b in [X]), TypeError, ("X", "generator", "once", "function")),
        (map(abs, [X]), TypeError, ("X", "map", "once", "function")),
    ],
)
def test_functions_that_give_no_blocks(tmp_path, rows, error, named):
    for work in (fitted, lambda X: checkpoints.fit(LRNNAutoencoder(2), X, tmp_path / "checkpoint")):
        with pytest.raises(error, match=naming(*named)):
            work(rows)


@pytest.mark.parametrize("library", ["zarr", "h5py"])
def test_groups_are_no_arrays(tmp_path, library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    opened = module.open_group if library == "zarr" else module.File
    group = opened(str(tmp_path / "a"), mode="w")
    with pytest.raises(TypeError, match=naming("X", "group", "'/'", "X['data']")):
        fitted(group)
    group.create_group("photos")
    for work in (fitted, fitted(X).transform):
        with pytest.raises(TypeError, match=naming("X", "group", "'/'", "X['photos']")):
            work(group)


@pytest.mark.usefixtures("dask_here")
@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_data_without_rows_or_columns(shape):
    """One clear line, whatever holds them."""
    what = "rows" if shape[0] == 0 else "columns"
    named = f"{re.escape(str(shape))}|no {what}"
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    empty = np.zeros(shape)
    for X in (empty, da.from_array(empty, chunks=(2, -1)), torch.from_numpy(empty),
              pd.DataFrame(empty), lambda: iter([empty])):  # fmt: skip
        for scale in (None, "max"):
            with pytest.raises(ValueError, match=named):
                LRNNAutoencoder(2, scale=scale).fit(X)


@pytest.mark.parametrize("kind", ["coo", "csc", "csr", "bsr", "dia", "dok", "lil"])
def test_sparse_formats_of_all_kinds_are_scaled(kind):
    X = np.random.default_rng(0).random((12, 5)) * 9
    expected = LRNNAutoencoder(2, scale="max", random_state=0).fit(X).reconstruction_err_
    found = LRNNAutoencoder(2, scale="max", random_state=0).fit(sparse.csr_array(X).asformat(kind))
    assert found.reconstruction_err_ == pytest.approx(expected, rel=1e-9)


def test_a_sparse_frame_of_few_bits():
    X = np.random.default_rng(0).random((12, 5)).astype(np.float16)
    frame = pd.DataFrame(X).astype(pd.SparseDtype("float16", np.float16(0)))
    expected = LRNNAutoencoder(2, random_state=0).fit(X.astype(np.float32)).reconstruction_err_
    found = LRNNAutoencoder(2, random_state=0).fit(frame).reconstruction_err_
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.usefixtures("dask_here")
def test_a_dask_array_in_chunks_of_columns_is_scaled():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    X = np.random.default_rng(0).random((12, 5)) * 9
    expected = LRNNAutoencoder(2, scale="max", random_state=0).fit(X).reconstruction_err_
    found = LRNNAutoencoder(2, scale="max", random_state=0).fit(da.from_array(X, chunks=(5, 2)))
    assert found.reconstruction_err_ == pytest.approx(expected, rel=1e-9)


def test_a_function_that_gives_more_rows_the_second_time():
    X = np.random.default_rng(0).random((12, 5))
    model = LRNNAutoencoder(2, random_state=0).fit(X)
    blocks = [[X[:2]], [X[:2]], [X[:6]]]

    def fickle():
        return iter(blocks.pop(0) if len(blocks) > 1 else blocks[0])

    with pytest.raises(ValueError, match=naming("fickle", "6 rows", 2)):
        model.arrivals(fickle)
