"""A training that is killed and resumed gives what an undisturbed one would have given."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrnn import LRNNAutoencoder, checkpoints
from lrnn.storage.checkpoints import CheckpointError, fit

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
    ("change", "message"),
    [
        ({"hidden_layer_sizes": (5,)}, r"hidden_layer_sizes \[6\], and this one has \[5\]"),
        ({"random_state": 4}, "random_state 3, and this one has 4"),
        ({"solver": "minibatch"}, "solver 'gram', and this one has 'minibatch'"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(digits, tmp_path, change, message):
    path = tmp_path / "c"
    fit(make("gram"), digits[:200], path, every=0)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        fit(make("gram", **change), digits[:200], path)
    with pytest.raises(CheckpointError, match="it is of a training on other data"):
        fit(make("gram"), digits[:201], path)
    assert path.read_bytes() == before
    fit(make("gram", verbose=1), digits[:200], path)  # this changes nothing
    fit(make("gram", **change), digits[:200], path, resume=False)


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x08\0\0\0\0\0\0\0{}      "])
def test_what_is_no_checkpoint_is_refused(digits, tmp_path, content):
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot go on from"):
        fit(make("gram"), digits[:200], path)
    make("gram").fit(digits[:200]).save(path)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
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
    assert "training goes on" in str(caught[0].message)
    assert_same(make("gram").fit(digits[:200]), model)


STORED = Path(__file__).parents[1] / "data"
STORED_SETTINGS = {
    "gram": {"hidden_layer_sizes": 3, "max_iter": 12, "tol": 0},
    "deep": {
        "hidden_layer_sizes": (5, 3), "max_iter": 6, "tol": 0, "fine_tune": 4, "batch_size": 20,
    },
    "minibatch": {
        "hidden_layer_sizes": 3, "solver": "minibatch", "max_iter": 6, "batch_size": 20,
    },
    "unit": {"hidden_layer_sizes": 3, "rates": "unit", "max_iter": 6, "batch_size": 20},
    "inhibition": {
        "hidden_layer_sizes": 3, "max_iter": 5, "inhibition": True, "fine_tune": 600,
        "batch_size": 20,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", STORED_SETTINGS)
def test_a_stored_checkpoint_of_the_first_versions_is_gone_on_from(name, tmp_path):
    """They were written by lrnn 0.1.0.dev0, together with what an undisturbed training gave."""
    X = np.random.RandomState(0).uniform(size=(60, 8)) ** 2
    X = (X > 0.4).astype(float) if name == "inhibition" else X
    path = tmp_path / "checkpoint"
    path.write_bytes((STORED / f"checkpoint-2-{name}.safetensors").read_bytes())
    model = LRNNAutoencoder(**STORED_SETTINGS[name], random_state=0)
    model = checkpoints.fit(model, X, path, every=1e9)
    with np.load(STORED / f"checkpoint-2-{name}.expected.npz") as expected:
        assert model.reconstruction_err_ == pytest.approx(float(expected["error"]), rel=1e-7)
        weights = [*model.encoders_, *model.decoders_]
        weights += [*(model.inhibitory_encoders_ or []), *(model.inhibitory_decoders_ or [])]
        for i, found in enumerate(weights):
            np.testing.assert_allclose(found, expected[f"w{i:02}"], rtol=1e-5, atol=1e-9)


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
    with pytest.warns(UserWarning, match="training was interrupted"):
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
