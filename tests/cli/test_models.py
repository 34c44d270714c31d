"""Fit, encode, reconstruct and inspect, run as a person would run them."""

import json
import os

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

import lrnn
from lrnn import LRNNAutoencoder
from lrnn.analysis.frontiers import readable
from lrnn.datasets import read
from lrnn.tables.scaling import Scaling
from lrnn.tables.writers import write

pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.fixture(scope="module")
def folder(call, tmp_path_factory):
    """Wine as a CSV file with names, and a model of it."""
    folder = tmp_path_factory.mktemp("wine")
    wine = load_wine()
    write(folder / "wine.csv", wine.data, wine.feature_names)
    done = call(
        "fit", "wine.csv", "-o", "wine.safetensors", "--hidden", "7", "--scale", "minmax",
        "--fine-tune", 2, "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (folder / "fit.json").write_text(done.stdout)
    return folder


def test_an_error_that_was_still_falling_is_told_in_the_words_of_the_command_line(call, tmp_path):
    few = ("fit", "digits", "--hidden", "6", "--max-iter", "3")
    done = call(*few, "-o", "a.safetensors", cwd=tmp_path)
    assert done.names("3 steps", 0.0001, "--max-iter 15", "--tol")
    assert "max_iter" not in done.stderr
    done = call(*few, "--json", "--quiet", "-o", "b.safetensors", cwd=tmp_path)
    assert (json.loads(done.stdout)["converged"], done.stderr) == (False, "")
    done = call(*few, "--tol", "0", "--json", "-o", "c.safetensors", cwd=tmp_path)
    assert (json.loads(done.stdout)["converged"], done.stderr) == (None, "")


def test_the_command_line_is_the_library_bit_for_bit(call, folder):
    data = load_wine().data
    scaled = Scaling.fit(data, "minmax").apply(data)
    model = LRNNAutoencoder((7,), fine_tune=2, random_state=0).fit(scaled)
    found = lrnn.load(folder / "wine.safetensors")
    for ours, theirs in zip(model.encoders_, found.encoders_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert list(found.feature_names_in_) == load_wine().feature_names

    for suffix in ("npy", "csv"):
        codes, back = folder / f"codes.{suffix}", folder / f"back.{suffix}"
        arguments = (folder / "wine.safetensors", folder / "wine.csv", "-o")
        assert call("encode", *arguments, codes).returncode == 0
        assert call("reconstruct", *arguments, back, "--scaled").returncode == 0
        np.testing.assert_array_equal(read(codes).data, model.transform(scaled))
        np.testing.assert_array_equal(read(back).data, model.reconstruct(scaled))
    assert call("encode", *arguments, folder / "refined.npy", "--refine", 1).returncode == 0
    found = np.load(folder / "refined.npy")
    np.testing.assert_array_equal(found, model.transform(scaled, refine=1))
    assert call("reconstruct", *arguments, folder / "units.csv").returncode == 0
    units = read(folder / "units.csv")
    assert units.names == tuple(load_wine().feature_names)
    assert np.corrcoef(units.data[:, 12], data[:, 12])[0, 1] > 0.9


def test_json_is_one_document_and_nothing_else(call, folder):
    document = json.loads((folder / "fit.json").read_text())
    model = lrnn.load(folder / "wine.safetensors")
    assert document["error"] == model.reconstruction_err_
    assert document["hidden"] == [7]
    done = call("inspect", "wine.safetensors", "--json", cwd=folder)
    document = json.loads(done.stdout)
    assert document["layers"] == [13, 7, 13]
    assert document["valid"] is True
    assert document["scaling"] == "minmax"


def test_a_person_is_told_what_happened(call, folder):
    done = call(
        "fit", "wine.csv", "-o", "deep.safetensors", "--hidden", "10-5", "--scale", "max",
        "--max-iter", 20, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.shows(178, "13 → 10 → 5")
    assert done.stderr  # the progress bar
    done = call("inspect", "deep.safetensors", cwd=folder)
    assert done.shows("13 → 10 → 5 → 10 → 13")
    quiet = call("encode", "deep.safetensors", "wine.csv", "-o", "c.npy", "--quiet", cwd=folder)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_images_need_no_scaling(call, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", rng.integers(0, 256, (30, 4, 4), dtype=np.uint8))
    done = call("fit", "a.npy", "-o", "a.safetensors", "--hidden", 3, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert lrnn.load(tmp_path / "a.safetensors").reconstruction_err_ < 0.2


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        ("fit wine.csv -o a.npy", 2, "a.npy .safetensors"),
        ("fit wine.csv -o a.safetensors --hidden 5x", 2, "--hidden 5x"),
        ("fit wine.csv -o a.safetensors --scale log", 2, "--scale log minmax"),
        ("fit wine.csv", 1, "wine.safetensors --force"),
        ("fit none.csv -o a.safetensors", 1, "none.csv"),
        (
            "fit wine.csv -o a.safetensors --scale none",
            1,
            "wine.csv column 1 alcohol --scale",
        ),
        ("fit words.csv -o a.safetensors", 1, "words.csv column 2 [b] two row 1"),
        ("fit minus.csv -o a.safetensors --scale none", 1, "minus.csv -1 row 1"),
        ("encode wine.csv wine.csv -o a.npy", 1, "wine.csv lrnn fit"),
        ("encode wine.safetensors words.csv -o a.npy", 1, "words.csv alcohol 12"),
        ("encode wine.safetensors minus.csv -o a.npy", 1, "minus.csv 2 13"),
        ("encode wine.safetensors other.csv -o a.npy", 1, "other.csv alcohol"),
        ("encode wine.safetensors wine.csv -o a.doc", 1, "a.doc .csv"),
        ("encode wine.safetensors wine.csv -o no/a.csv", 1, "'no'"),
        ("inspect none.safetensors", 1, "none.safetensors"),
    ],
)
def test_what_goes_wrong_is_said_in_a_line(call, folder, arguments, status, named):
    (folder / "words.csv").write_text("a,[b]\n1,two\n")
    (folder / "minus.csv").write_text("0.5,-1\n0.2,0.1\n")
    write(folder / "other.csv", load_wine().data, [f"x{i}" for i in range(13)])
    before = (folder / "wine.safetensors").read_bytes()
    done = call(*arguments.split(), cwd=folder)
    assert done.returncode == status
    assert done.names(*named.split())
    assert not list(folder.glob("a.*"))
    assert (folder / "wine.safetensors").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(call, folder, tmp_path):
    tmp_path.chmod(0o500)
    done = call("encode", "wine.safetensors", "wine.csv", "-o", tmp_path / "a.npy", cwd=folder)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr


def test_inhibition(call, folder):
    done = call(
        "fit", "digits", "-o", "i.safetensors", "--hidden", 8, "--scale", "max", "--inhibition",
        "--spike-penalty", "1e-5", "--fine-tune", 3, "--max-iter", 5, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cost = readable(lrnn.load(folder / "i.safetensors").spike_cost_)
    assert done.shows(f"{cost} spikes")
    for command in (
        ["inspect", "i.safetensors"],
        ["encode", "i.safetensors", "digits", "-o", "i.npy"],
        ["simulate", "i.safetensors", "digits", "--events", "1e4"],
        ["export", "i.safetensors", "-o", "i.onnx"],
    ):
        done = call(*command, cwd=folder)
        assert done.returncode == 0 or "needs onnx" in done.said, done.stderr
    done = call("fit", "digits", "-o", "j.safetensors", "--spike-penalty", "1", "--scale", "max",
                cwd=folder)  # fmt: skip
    assert done.returncode == 1
    assert done.names("--spike-penalty 1.0", "--inhibition")


def test_a_file_with_a_sparse_matrix(call, tmp_path):
    matrix = sparse.random_array((30, 6), density=0.3, rng=0)
    sparse.save_npz(tmp_path / "a.npz", matrix)
    done = call("fit", "a.npz", "-o", "a.safetensors", "--hidden", 2, "--scale", "max",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = call("encode", "a.safetensors", "a.npz", "-o", "codes.npy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = LRNNAutoencoder(2, random_state=0, scale="max").fit_transform(matrix)
    np.testing.assert_allclose(np.load(tmp_path / "codes.npy"), expected, atol=1e-12)


def test_without_a_number_of_code_neurons_the_rule_is_told(call, tmp_path):
    X = np.random.default_rng(0).random((20, 13))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "wide.npy", np.tile(X, 20))
    done = call("fit", "x.npy", "-o", "a.safetensors", "--max-iter", 2, cwd=tmp_path)
    assert done.shows(7, 13, "--hidden")
    done = call("fit", "wide.npy", "-o", "b.safetensors", "--max-iter", 2, "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["hidden"] == [100]
    assert "260" in document["hidden_rule"]
    command = ("fit", "x.npy", "-o", "c.safetensors", "--max-iter", 2, "--hidden", 3)
    assert not call(*command, cwd=tmp_path).shows("--hidden")


@pytest.mark.parametrize(
    ("hidden", "layers"),
    [("8-2", (8, 8, 2, 8, 8)), ("8+2", (8, 8, 2, 8)), ("3+5-8", (8, 3, 5, 8, 8))],
)
def test_a_hidden_layer_may_be_as_wide_as_the_data(call, tmp_path, hidden, layers):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((30, 8)))
    done = call("fit", "x.npy", "--hidden", hidden, "--max-iter", 2, cwd=tmp_path)
    assert done.returncode == 0, done.said
    assert lrnn.load(tmp_path / "x.safetensors").weights_.sizes == layers
    assert done.names(f"--hidden {hidden}", 8) == ("-" in hidden)


@pytest.mark.parametrize("number", [2**70, int("9" * 400)], ids=["2**70", "of 400 digits"])
@pytest.mark.parametrize(
    "line",
    [
        "fit x.npy --hidden {}",
        "fit x.npy --hidden 2+{}",
        "fit x.npy --classify --label 8 --hidden 3-{}",
        "detect x.npy --hidden {}",
        "frontier x.npy --hidden {}",
        "demo --hidden {}",
        "fit x.npy --seed {}",
        "detect x.npy --seed {}",
        "demo --seed {}",
        "frontier x.npy --penalties {}",
        "simulate m.safetensors x.npy --replicas {}",
    ],
)
def test_numbers_beyond_all_bounds_are_refused_by_their_option(call, tmp_path, line, number):
    rows = np.random.default_rng(0).random((30, 8))
    rows[:, 7] = np.arange(30) % 2
    np.save(tmp_path / "x.npy", rows)
    if "m.safetensors" in line:
        model = tmp_path / "m.safetensors"
        assert call("fit", tmp_path / "x.npy", "--hidden", 2, "-o", model).returncode == 0
    before = sorted(tmp_path.iterdir())
    done = call(*line.format(number).split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.names(line.split()[-2])
    assert sorted(tmp_path.iterdir()) == before


def test_layers_behind_the_code_stand_behind_a_plus(call, tmp_path):
    model = tmp_path / "model.safetensors"
    done = call("fit", "digits", "--scale", "max", "--hidden", "6+20-30", "-o", model)
    assert done.returncode == 0, done.said
    assert done.shows("64 → 6 → 20 → 30 → 64")
    assert lrnn.load(model).weights_.sizes == (64, 6, 20, 30, 64)
    done = call("report", model, "digits", "-o", tmp_path / "page")
    assert done.returncode == 0, done.said
    for text in ("6+", "+40", "6++40", "6+40+6", "6-+40", "6+0"):
        done = call("fit", "digits", "--hidden", text, "-o", tmp_path / "b.safetensors")
        assert done.returncode == 2
        assert done.names("--hidden", f"'{text}'")
    assert not (tmp_path / "b.safetensors").exists()


@pytest.mark.parametrize(("hidden", "remarked"), [("500", True), ("13", True), ("12", False)])
def test_a_code_as_wide_as_the_data_is_remarked_on(call, tmp_path, hidden, remarked):
    done = call("fit", "wine", "--hidden", hidden, "--max-iter", "5", cwd=tmp_path)
    assert done.returncode == 0
    assert done.shows(f"{hidden} code neurons", 13) is remarked
