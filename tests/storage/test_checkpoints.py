"""A training that is killed and resumed gives what an undisturbed one would have given."""

import json
import os
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from scipy.sparse import csr_array
from sklearn.base import clone

import lrnn
from lrnn import LRNNAutoencoder, checkpoints
from lrnn.rows.content import ContentSum
from lrnn.storage.checkpoints import CheckpointError, fit
from lrnn.storage.codec import join, read_tensors, split, write_tensors
from lrnn.tables.sources import NpyFile
from naming import naming

WAYS = {
    "gram": {},
    "gram from random weights": {"init": "random"},
    "gram, fine-tuned": {"fine_tune": 4},
    "gram, deep": {"hidden_layer_sizes": (20, 6), "fine_tune": 2},
    "gram, deep, together": {"hidden_layer_sizes": (20, 6), "stacking": "joint", "fine_tune": 2},
    "unit rates": {"rates": "unit", "max_iter": 8},
    "unit rates, deep": {"rates": "unit", "hidden_layer_sizes": (20, 6), "max_iter": 9},
    "printed": {"solver": "minibatch", "max_iter": 9},
    "printed, evaluated often": {"solver": "minibatch", "max_iter": 9, "evaluate_every": 2},
    "printed, layer by layer": {
        "solver": "minibatch", "hidden_layer_sizes": (20, 6), "max_iter": 3, "fine_tune": 2,
    },
    "printed, unit rates": {"solver": "minibatch", "rates": "unit", "max_iter": 9},
}  # fmt: skip


class Killed(Exception):  # noqa: N818
    """Stands for SIGKILL, which no code of ours sees."""


def kill_after(monkeypatch, count):
    """Let the process die after so many checkpoints."""
    left = iter(range(count))
    real = checkpoints.write

    def write(*arguments):
        real(*arguments)
        if next(left, None) is None:
            raise Killed

    monkeypatch.setattr(checkpoints, "write", write)


def make(way, **more):
    settings = {"hidden_layer_sizes": (6,), "max_iter": 25, "random_state": 3, "batch_size": 60}
    return LRNNAutoencoder(**{**settings, **WAYS[way], **more})


def assert_same(one, other):
    for ours, theirs in zip(
        one.encoders_ + one.decoders_, other.encoders_ + other.decoders_, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert one.reconstruction_err_ == other.reconstruction_err_
    assert one.n_iter_ == other.n_iter_
    for a, b in zip(one.history_, other.history_, strict=True):
        assert (a.layer, a.passes, a.stopped) == (b.layer, b.passes, b.stopped)
        for name in ("batch_errors", "iterations", "errors"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert (np.diff(b.seconds) >= 0).all()


@pytest.mark.parametrize("way", WAYS)
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    way, digits, tmp_path, monkeypatch
):
    X = digits[:300]
    path = tmp_path / "checkpoint"
    undisturbed = make(way).fit(X)
    deaths = 0
    while True:
        with monkeypatch.context() as patch:
            kill_after(patch, 2 + deaths % 3)
            try:
                model = fit(make(way), X, path, every=0)
                break
            except Killed:
                deaths += 1
    assert deaths > 1
    assert_same(undisturbed, model)


def test_killed_again_and_again_on_a_sketch_of_rows_that_are_not_in_memory(
    digits, tmp_path, monkeypatch
):
    wide = np.tile(digits[:200], 8)

    def stream():
        return iter(np.array_split(wide, 2))

    undisturbed = make("gram", moment="implicit").fit(stream)
    assert undisturbed.n_iter_ < 25  # the others were on the sketch
    deaths = 0
    while True:
        with monkeypatch.context() as patch:
            kill_after(patch, 2 + deaths % 3)
            try:
                model = fit(make("gram", moment="implicit"), stream, tmp_path / "c", every=0)
                break
            except Killed:
                deaths += 1
    assert deaths > 1
    assert_same(undisturbed, model)


def test_single_precision_sparse_data_and_levels(digits, tmp_path, monkeypatch):
    for i, X in enumerate(
        (
            digits[:200].astype(np.float32),
            csr_array(digits[:200]),
            (255 * digits[:200]).astype(np.uint8),
        )
    ):
        path = tmp_path / f"{i}"
        with monkeypatch.context() as patch:
            kill_after(patch, 5)
            with pytest.raises(Killed):
                fit(make("gram, fine-tuned"), X, path, every=0)
        assert_same(make("gram, fine-tuned").fit(X), fit(make("gram, fine-tuned"), X, path))


def test_it_is_not_written_more_often_than_asked(digits, tmp_path):
    fit(make("gram"), digits[:200], tmp_path / "c", every=3600)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"hidden_layer_sizes": (5,)}, ["hidden_layer_sizes", "[6]", "[5]"]),
        ({"random_state": 4}, ["random_state", 3, 4]),
        ({"solver": "minibatch"}, ["solver", "'gram'", "'minibatch'"]),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(digits, tmp_path, change, named):
    path = tmp_path / "c"
    fit(make("gram"), digits[:200], path, every=0)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=naming(path, *named)):
        fit(make("gram", **change), digits[:200], path)
    with pytest.raises(CheckpointError, match=naming(path, "data")):
        fit(make("gram"), digits[:201], path)
    assert path.read_bytes() == before
    fit(make("gram", verbose=1), digits[:200], path)  # this changes nothing
    fit(make("gram", **change), digits[:200], path, resume=False)


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x08\0\0\0\0\0\0\0{}      "])
def test_what_is_no_checkpoint_is_refused(digits, tmp_path, content):
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=naming(path)):
        fit(make("gram"), digits[:200], path)
    make("gram").fit(digits[:200]).save(path)
    with pytest.raises(CheckpointError, match=naming(path, "checkpoint")):
        fit(make("gram"), digits[:200], path)


def test_a_damaged_checkpoint_is_refused(digits, tmp_path, rng):
    path = tmp_path / "c"
    fit(make("gram"), digits[:200], path, every=0)
    content = path.read_bytes()
    for place in rng.integers(8, len(content), 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(CheckpointError):
            fit(make("gram"), digits[:200], path)


def test_a_disk_that_cannot_be_written_to_does_not_stop_the_training(digits, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(make("gram"), digits[:200], tmp_path / "file" / "c", every=0, resume=False)
    assert str(tmp_path / "file" / "c") in str(caught[0].message)
    assert_same(make("gram").fit(digits[:200]), model)


def test_a_checkpoint_of_another_version_is_refused_with_what_to_do(digits, tmp_path, monkeypatch):
    path, X = tmp_path / "checkpoint", digits[:100]
    with monkeypatch.context() as patch:
        patch.setattr(lrnn, "__version__", "0.0.9")
        fit(make("gram"), X, path, every=0)
    with pytest.raises(CheckpointError, match=naming(path, "0.0.9", lrnn.__version__)):
        fit(make("gram"), X, path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("share", [0.4, 0.8])
def test_ctrl_c_saves_a_checkpoint_at_once(digits, tmp_path, monkeypatch, way, share):
    interrupt_and_go_on(way, digits[:200], share, 3600, tmp_path / "c", monkeypatch)


@pytest.mark.parametrize("every", [0, 3600])
def test_ctrl_c_is_followed_by_a_pass_that_is_in_no_checkpoint(
    digits, tmp_path, monkeypatch, every
):
    np.save(tmp_path / "x.npy", digits[:200])
    X = str(tmp_path / "x.npy")
    interrupt_and_go_on("gram", X, 0.6, every, tmp_path / "c", monkeypatch)


def interrupt_and_go_on(way, X, share, every, path, monkeypatch):
    """Press Ctrl-C after a share of all iterations; what is resumed ends as if it had not been."""
    seen = []

    class Counting(checkpoints.Checkpoint):
        press = None

        def iteration(self):
            seen.append(0)
            if len(seen) == Counting.press:
                raise KeyboardInterrupt  # in the midst of a step

    monkeypatch.setattr(checkpoints, "Checkpoint", Counting)
    undisturbed = fit(make(way), X, path, every=3600)
    assert not path.exists()  # for it was not time for one
    count, Counting.press = len(seen), int(share * len(seen))
    seen.clear()
    with pytest.warns(UserWarning, match=naming("interrupted")):
        fit(make(way), X, path, every=every)
    assert path.exists()
    seen.clear()
    Counting.press = None
    assert_same(undisturbed, fit(make(way), X, path, every=every))
    assert len(seen) < count  # it has gone on, and not begun anew


def test_ctrl_c_while_rows_are_read_saves_a_checkpoint(digits, tmp_path, monkeypatch):
    path, parts = tmp_path / "c", [digits[i : i + 50] for i in range(0, 200, 50)]

    class Interrupting(checkpoints.Checkpoint):
        def checkpoint(self, state, finished=False):
            super().checkpoint(state, finished)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "Checkpoint", Interrupting)
        with pytest.raises(KeyboardInterrupt):
            fit(make("gram"), lambda: iter(parts), path, every=3600)
    assert path.exists()
    again = fit(make("gram"), lambda: iter(parts), path)
    expected = make("gram").fit(lambda: iter(parts))
    np.testing.assert_array_equal(again.encoders_[0], expected.encoders_[0])


# Which data


def large_map(folder, X):
    np.save(folder / "map.npy", X)
    return np.load(folder / "map.npy", mmap_mode="r")


def hdf5(folder, X):
    h5py = pytest.importorskip("h5py", reason="pip install 'lrnn[files]'")
    with h5py.File(folder / "x.h5", "w") as file:
        file["data"] = X
    return str(folder / "x.h5")


def zarr_array(folder, X):
    zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    zarr.create_array(store=str(folder / "x.zarr"), data=X, chunks=(20, X.shape[1]), overwrite=True)
    return str(folder / "x.zarr")


def npy(folder, X):
    np.save(folder / "x.npy", X)
    return str(folder / "x.npy")


def parquet(folder, X):
    pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]).to_parquet(folder / "x.parquet")
    return str(folder / "x.parquet")


def blocks(folder, X):
    return lambda: (X[i : i + 17] for i in range(0, len(X), 17))


def sparse_blocks(folder, X):
    return lambda: (csr_array(X[i : i + 17]) for i in range(0, len(X), 17))


def dask_array(folder, X):
    """Under the same name, whatever it holds."""
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    return da.from_array(X, chunks=(30, X.shape[1]), name="x")


PLACES = [large_map, hdf5, zarr_array, npy, parquet, blocks, sparse_blocks, dask_array]


def frozen(folder):
    """Let no file be younger than another."""
    for path in folder.rglob("*"):
        os.utime(path, (1e9, 1e9))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of few rows, and maps that count as large."""
    monkeypatch.setattr("lrnn.tables.sources.BLOCK_BYTES", 64 * 8 * 20)
    monkeypatch.setattr("lrnn.tables.kinds.SMALL_MAP", 0)


@pytest.mark.parametrize(
    ("place", "way"),
    [
        *((place, "gram from random weights") for place in PLACES),
        *((place, "printed") for place in (npy, sparse_blocks, dask_array)),
        (npy, "unit rates"),
    ],
)
def test_other_data_are_refused_wherever_they_are(
    place, way, digits, tmp_path, monkeypatch, small_blocks
):
    """In the midst of the first pass and after it; of the same size and age, in the same place."""
    X, path = digits[:100], tmp_path / "c"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    undisturbed = make(way, max_iter=7).fit(place(tmp_path / "a", X))
    for count, changed in ((1, 25), (3, 70)):
        path.unlink(missing_ok=True)
        data = place(tmp_path / "a", X)
        frozen(tmp_path)
        with monkeypatch.context() as patch:
            kill_after(patch, count)
            with pytest.raises(Killed):
                fit(make(way, max_iter=7), data, path, every=0)
        before = path.read_bytes()
        other = X.copy()
        other[changed, 20] = 1 - other[changed, 20]
        data = place(tmp_path / "a", other)
        frozen(tmp_path)
        if changed < seen_rows(path):
            with pytest.raises(CheckpointError, match=naming(path, "data")):
                fit(make(way, max_iter=7), data, path, every=0)
            assert path.read_bytes() == before
        data = place(tmp_path / "b", X)  # the same content elsewhere
        assert_same(undisturbed, fit(make(way, max_iter=7), data, path))


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        *((place, {}) for place in PLACES),
        (npy, {"hidden_layer_sizes": (20, 6)}),
        (sparse_blocks, {"complement": True}),
    ],
)
def test_weighted_rows_go_on_wherever_they_are(
    place, settings, digits, rng, tmp_path, monkeypatch, small_blocks
):
    """In the midst of the first pass and after it; with the same weights alone."""
    X, weights, path = digits[:100], rng.random(100), tmp_path / "c"
    weights[:30:3] = 0
    others = np.where(np.arange(100) == 5, 2 * weights, weights)

    def trained(weights, **options):
        model, data = make("gram", max_iter=7, **settings), place(tmp_path, X)
        return fit(model, data, path, sample_weight=weights, **options)

    undisturbed = make("gram", max_iter=7, **settings).fit(place(tmp_path, X), None, weights)
    for count in (0, 2, 4):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            kill_after(patch, count)
            with pytest.raises(Killed):
                trained(weights, every=0)
        for wrong in (others, None):
            with pytest.raises(CheckpointError, match=naming(path, "data")):
                trained(wrong)
        assert_same(undisturbed, trained(weights))


def seen_rows(path):
    """How many rows a checkpoint knows of."""
    with safe_open(path, "numpy") as file:
        data = json.loads(file.metadata()["lrnn"])["facts"]["data"]
    return data[1] if isinstance(data, list) else np.inf


def test_what_is_not_read_yet_may_still_change(digits, tmp_path, monkeypatch, small_blocks):
    X, path = digits[:100], tmp_path / "c"
    with monkeypatch.context() as patch:
        kill_after(patch, 2)
        with pytest.raises(Killed):
            fit(make("gram"), npy(tmp_path, X), path, every=0)
    assert seen_rows(path) == 60
    other = X.copy()
    other[80:] = 1 - other[80:]
    data = npy(tmp_path, other)
    assert_same(make("gram").fit(data), fit(make("gram"), data, path))


@pytest.mark.parametrize("way", ["gram", "printed", "unit rates"])
def test_checkpoints_cost_no_pass_over_the_data(way, digits, tmp_path, monkeypatch, small_blocks):
    data, rows = npy(tmp_path, digits[:100]), []

    def counted(self, first, height, real=NpyFile.blocks):
        for block in real(self, first, height):
            rows.append(len(block))
            yield block

    monkeypatch.setattr(NpyFile, "blocks", counted)
    make(way).fit(data)
    without = sum(rows)
    rows.clear()
    fit(make(way), data, tmp_path / "c", every=0)
    assert sum(rows) == without
    rows.clear()
    fit(make(way), data, tmp_path / "c")
    again = 100 if way == "gram" else 0  # which else is not read any more, nor held in memory
    assert sum(rows) <= without + again


@given(st.lists(st.integers(1, 30), min_size=1), st.booleans(), st.sampled_from([32, 160, 1 << 20]))
def test_the_sum_does_not_depend_on_the_blocks(heights, full, leaf):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lrnn.rows.content.LEAF", leaf)  # bytes: 1 row, 5 rows, more than all
        check_sums(heights, np.asfortranarray if full else csr_array)


def check_sums(heights, kind):
    X = np.arange(400.0).reshape(100, 4) % 7
    expected, found = ContentSum(), ContentSum()
    expected.add(kind(X), 0)
    first = 0
    while first < 100:
        for height in heights:
            found.add(kind(X[first : first + height]), first)
            first += height
    assert found.of(100) == expected.of(100)
    again = ContentSum()
    again.add(kind(X + (X[50, 2] == X)), 0)
    assert again.of(100) != expected.of(100)


# Of another shape or type


FORGED_WAYS = {
    "gram": {"max_iter": 6, "tol": 0, "init": "random"},
    "unit rates": {"rates": "unit", "max_iter": 6},
    "printed": {"solver": "minibatch", "max_iter": 6},
    "inhibition": {"inhibition": True, "fine_tune": 6, "max_iter": 3, "init": "random"},
}
DISTORTED = {
    "cut": lambda array: array[:-1],
    "twice": lambda array: np.concatenate([array, array]),
    "another axis": lambda array: array[None],
    "single precision": lambda array: array.astype(np.float32),
    "text": lambda array: "x",
}


def arrays_in(state):
    """Each array of a state: the dictionary or list that holds it, and its key there."""
    for key, part in state.items() if isinstance(state, dict) else enumerate(state):
        if isinstance(part, dict | list):
            yield from arrays_in(part)
        elif isinstance(part, np.ndarray):
            yield state, key


def state_in(path):
    return join(*read_tensors(path, lambda document: None))


@pytest.mark.parametrize("way", FORGED_WAYS)
def test_arrays_of_another_shape_or_type_are_refused(way, tmp_path, monkeypatch):
    X = np.random.RandomState(0).uniform(size=(40, 5))
    model = LRNNAutoencoder(3, random_state=0, batch_size=10, **FORGED_WAYS[way])
    path = tmp_path / "c"
    with monkeypatch.context() as patch:
        kill_after(patch, 4)
        with pytest.raises(Killed):
            fit(clone(model), X, path, every=0)
    original = path.read_bytes()
    count = len(list(arrays_in(state_in(path)["states"][-1])))
    assert count > 3
    for distortion, distorted in DISTORTED.items():
        for i in range(count):
            path.write_bytes(original)
            state = state_in(path)
            part, key = list(arrays_in(state["states"][-1]))[i]
            if key == "evaluations" and distortion in ("cut", "twice"):
                continue  # there may be any number of them
            part[key] = distorted(part[key])
            write_tensors(path, *split(state, ordered=True))
            with pytest.raises(CheckpointError, match=naming(path)):
                fit(clone(model), X, path)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["states"].append(state["states"][0]),
        lambda state: state["states"][0].update(starts=[]),
        lambda state: state["states"][0].update(errors={}),
        lambda state: state.update(facts=[]),
        lambda state: state["facts"].pop("data"),
        lambda state: state.pop("states"),
    ],
)
def test_states_that_are_none_of_this_training_are_refused(change, digits, tmp_path):
    path = tmp_path / "c"
    fit(make("gram"), digits[:200], path, every=0)
    state = state_in(path)
    change(state)
    write_tensors(path, *split(state, ordered=True))
    with pytest.raises(CheckpointError, match=naming(path)):
        fit(make("gram"), digits[:200], path)
