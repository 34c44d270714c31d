"""``lrnn fit --corruption``, and what other commands say of such a model."""

import json

import numpy as np
import pytest

import lrnn


@pytest.fixture(scope="module")
def folder(digits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corruption")
    np.save(folder / "x.npy", digits[:100])
    return folder


def fit(call, folder, *options, name="a"):
    line = ("fit", "x.npy", "-o", f"{name}.safetensors", "--hidden", "4", "--max-iter", "5")
    return call(*line, "--force", *options, cwd=folder)


def test_a_model_learns_from_corrupted_rows(call, folder, digits):
    done = fit(call, folder, "--corruption", "mask", "0.5")
    assert done.returncode == 0
    model = lrnn.load(folder / "a.safetensors")
    own = lrnn.LRNNAutoencoder(4, corruption=("mask", 0.5), max_iter=5, random_state=0)
    assert model.corrupted_err_ == pytest.approx(own.fit(digits[:100]).corrupted_err_)
    told = (f"{model.corrupted_err_:.5f}", "mask 0.5")
    assert done.shows(*told)
    assert call("inspect", "a.safetensors", cwd=folder).shows(*told)
    document = json.loads(call("inspect", "a.safetensors", "--json", cwd=folder).stdout)
    assert document["corruption"] == ["mask", 0.5]
    assert document["corrupted_error"] == model.corrupted_err_


def test_a_moment_is_enough_for_masks_only(call, folder):
    assert call("moment", "x.npy", "-o", "m.safetensors", cwd=folder).returncode == 0
    line = ("fit", "m.safetensors", "-o", "c.safetensors", "--hidden", "4", "--max-iter", "5")
    refused = call(*line, "--corruption", "noise", "0.1", cwd=folder)
    assert refused.returncode == 2
    assert refused.names("--corruption", "noise")
    assert call(*line, "--corruption", "mask", "0.5", cwd=folder).returncode == 0
    assert lrnn.load(folder / "c.safetensors").corrupted_err_ > 0


def test_nothing_is_said_where_nothing_is_corrupted(call, folder):
    for options in ((), ("--corruption", "noise", "0")):
        done = fit(call, folder, *options, "--json")
        assert json.loads(done.stdout)["corrupted_error"] is None
        document = json.loads(call("inspect", "a.safetensors", "--json", cwd=folder).stdout)
        assert document["corrupted_error"] is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("mask 1", ["mask 1"]),
        ("mask 1.5", ["mask 1.5"]),
        ("noise -1", ["noise -1"]),
        ("noise nan", ["noise nan"]),
        ("blur 0.5", ["blur 0.5", "mask", "noise"]),
        ("mask x", ["x"]),
        ("mask", [2]),
        ("mask 0.5 --solver minibatch", ["mask 0.5", "--solver gram"]),
    ],
)
def test_refusals(call, folder, given, named):
    done = fit(call, folder, "--corruption", *given.split(), name="b")
    assert done.returncode == 2
    assert done.names("--corruption", *named)
    assert not (folder / "b.safetensors").exists()
