"""Large files on the command line: read block by block, with the same results."""

import numpy as np
import pandas as pd
import pytest

from lrnn import LRNNAutoencoder, load
from lrnn.tables import sources


@pytest.fixture
def folder(digits, tmp_path, monkeypatch):
    monkeypatch.setattr("lrnn.datasets.open.LARGE", 1_000)
    monkeypatch.setattr(sources, "BLOCK_BYTES", 200 * 64 * 8)
    np.save(tmp_path / "digits.npy", digits)
    np.save(tmp_path / "raw.npy", digits * 16)
    names = [f"pixel{i}" for i in range(64)]
    pd.DataFrame(digits * 16, columns=names).to_parquet(tmp_path / "raw.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["raw.npy", "raw.parquet"])
def test_a_large_file_gives_the_same_model_and_codes(call, folder, digits, name):
    done = call(
        "fit", name, "-o", "a.safetensors", "--hidden", 8, "--scale", "minmax", "--max-iter", 5,
        "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    low, high = digits.min(axis=0), digits.max(axis=0)
    scaled = (digits - low) / np.where(high > low, high - low, np.inf)
    expected = LRNNAutoencoder(8, max_iter=5).fit(scaled)
    model = load(folder / "a.safetensors")
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)
    for command, wanted in (
        ("encode", expected.transform(scaled)),
        ("reconstruct", expected.reconstruct(scaled)),
    ):
        for output in ("out.npy", "out.parquet"):
            done = call(command, "a.safetensors", name, "-o", output, cwd=folder)
            assert done.returncode == 0, done.stderr
            path = folder / output
            found = np.load(path) if output == "out.npy" else pd.read_parquet(path).to_numpy()
            np.testing.assert_allclose(found, wanted, atol=1e-9)
    done = call("reconstruct", "a.safetensors", name, "-o", "out.npy", "--units", cwd=folder)
    units = expected.reconstruct(scaled) * (high - low) * 16 + low * 16
    np.testing.assert_allclose(np.load(folder / "out.npy"), units, atol=1e-8)


def test_numbers_above_one_are_an_error_without_scaling(call, folder):
    done = call("fit", "raw.npy", "-o", "a.safetensors", "--hidden", 8, cwd=folder)
    assert done.returncode == 1
    assert "'raw.npy' has values above 1: 5 at row 0, column 2" in done.said
    assert "choose --scale minmax or max" in done.said
    assert not (folder / "a.safetensors").exists()


def test_minibatches_of_a_parquet_file(call, folder):
    for name in ("raw.parquet", "raw.npy"):
        done = call(
            "fit", name, "-o", f"{name}.safetensors", "--hidden", 8, "--scale", "max",
            "--fine-tune", 2, "--seed", 0, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    found, known = (load(folder / f"{name}.safetensors") for name in ("raw.parquet", "raw.npy"))
    assert found.reconstruction_err_ == pytest.approx(known.reconstruction_err_, rel=1e-9)


def test_a_bad_cell_in_the_middle(call, folder, digits):
    bad = digits.copy()
    bad[900, 9] = np.nan
    np.save(folder / "bad.npy", bad)
    done = call("fit", "bad.npy", "-o", "a.safetensors", "--hidden", 8, cwd=folder)
    assert done.returncode == 1
    assert "contains NaN at row 900, column 9" in done.said


def test_zarr_and_hdf5_files(call, folder, digits):
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    array = zarr.create_array(store=str(folder / "d.zarr"), shape=digits.shape, dtype="f8")
    array[:] = digits
    with h5py.File(folder / "d.h5", "w") as file:
        file["data"] = digits
    for name in ("d.zarr", "d.h5"):
        done = call("fit", name, "-o", "a.safetensors", "--hidden", 8, "--max-iter", 3, cwd=folder)
        assert done.returncode == 0, done.stderr
        done = call("encode", "a.safetensors", name, "-o", "codes.zarr", cwd=folder)
        assert done.returncode == 0, done.stderr
        expected = LRNNAutoencoder(8, max_iter=3).fit_transform(digits)
        np.testing.assert_allclose(zarr.open(folder / "codes.zarr")[:], expected, atol=1e-9)
        assert call("inspect", "a.safetensors", cwd=folder).returncode == 0


def test_a_folder_that_is_no_zarr_array_is_left_alone(call, folder):
    call("fit", "digits.npy", "-o", "a.safetensors", "--hidden", 4, "--max-iter", 2, cwd=folder)
    (folder / "mine.zarr").mkdir()
    (folder / "mine.zarr" / "thesis.txt").write_text("all of it")
    done = call("encode", "a.safetensors", "digits.npy", "-o", "mine.zarr", cwd=folder)
    assert done.returncode == 1
    assert "no Zarr array; it is left alone" in done.said
    assert (folder / "mine.zarr" / "thesis.txt").read_text() == "all of it"


def test_a_device_that_is_not_there(call, folder):
    call("fit", "digits.npy", "-o", "a.safetensors", "--hidden", 4, "--max-iter", 2, cwd=folder)
    for command in (
        ["fit", "digits.npy", "-o", "b.safetensors", "--device", "abacus"],
        ["encode", "a.safetensors", "digits.npy", "-o", "codes.npy", "--device", "abacus"],
    ):
        done = call(*command, cwd=folder)
        assert done.returncode == 1
        assert "device='abacus' cannot be used" in done.said
