"""Large files on the command line: read block by block, with the same results."""

import os
import signal
import subprocess
import sys
import time

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
        option = ("--scaled",) if command == "reconstruct" else ()
        for output in ("out.npy", "out.parquet"):
            target = ("-o", output, "--force", *option)
            done = call(command, "a.safetensors", name, *target, cwd=folder)
            assert done.returncode == 0, done.stderr
            path = folder / output
            found = np.load(path) if output == "out.npy" else pd.read_parquet(path).to_numpy()
            np.testing.assert_allclose(found, wanted, atol=1e-9)
    done = call("reconstruct", "a.safetensors", name, "-o", "units.npy", cwd=folder)
    units = expected.reconstruct(scaled) * (high - low) * 16 + low * 16
    np.testing.assert_allclose(np.load(folder / "units.npy"), units, atol=1e-8)


def test_numbers_above_one_are_an_error_without_scaling(call, folder):
    model = ("-o", "a.safetensors", "--hidden", 8, "--scale", "none")
    done = call("fit", "raw.npy", *model, cwd=folder)
    assert done.returncode == 1
    assert done.names("raw.npy", "row 1", "column 3", 5, "--scale")
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
    assert done.names("bad.npy", "row 901", "column 10")


def test_zarr_and_hdf5_files(call, folder, digits):
    zarr, h5py = (
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'"),
        pytest.importorskip("h5py", reason="pip install 'lrnn[files]'"),
    )
    array = zarr.create_array(store=str(folder / "d.zarr"), shape=digits.shape, dtype="f8")
    array[:] = digits
    with h5py.File(folder / "d.h5", "w") as file:
        file["data"] = digits
    for name in ("d.zarr", "d.h5"):
        model = ("-o", "a.safetensors", "--hidden", 8, "--max-iter", 3, "--force")
        done = call("fit", name, *model, cwd=folder)
        assert done.returncode == 0, done.stderr
        done = call("encode", "a.safetensors", name, "-o", "codes.zarr", "--force", cwd=folder)
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
    assert done.names("mine.zarr")
    assert (folder / "mine.zarr" / "thesis.txt").read_text() == "all of it"


def test_a_device_that_is_not_there(call, folder):
    call("fit", "digits.npy", "-o", "a.safetensors", "--hidden", 4, "--max-iter", 2, cwd=folder)
    for command in (
        ["fit", "digits.npy", "-o", "b.safetensors", "--device", "abacus"],
        ["encode", "a.safetensors", "digits.npy", "-o", "codes.npy", "--device", "abacus"],
    ):
        done = call(*command, cwd=folder)
        assert done.returncode == 1
        assert done.names("device", "'abacus'")


def test_bad_cells_of_arrays_on_disk_are_said_of_the_file(call, folder, digits):
    zarr, h5py = (
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'"),
        pytest.importorskip("h5py", reason="pip install 'lrnn[files]'"),
    )
    LRNNAutoencoder(8, max_iter=5).fit(digits).save(folder / "a.safetensors")
    for value in (np.nan, -2):
        bad = digits.copy()
        bad[900, 9] = value
        zarr.create_array(str(folder / "bad.zarr"), data=bad, overwrite=True)
        with h5py.File(folder / "bad.h5", "w") as file:
            file["data"] = bad
        for name in ("bad.zarr", "bad.h5"):
            for command in (
                ("fit", name, "-o", "b.safetensors", "--hidden", 8, "--scale", "none"),
                ("encode", "a.safetensors", name, "-o", "codes.npy"),
                ("reconstruct", "a.safetensors", name, "-o", "back.npy"),
            ):
                done = call(*command, cwd=folder)
                assert done.returncode == 1
                assert done.names(name, "NaN" if np.isnan(value) else value, "row 901", "column 10")
                assert "sklearn" not in done.said
            done = call("fit", name, "-o", "b.safetensors", "--scale", "max", cwd=folder)
            found = "--missing" if np.isnan(value) else value
            assert done.names(name, "row 901", "column 10", found)
            assert "sklearn" not in done.said


@pytest.mark.parametrize(("kind", "white"), [("u1", 255), ("u2", 65_535)])
def test_levels_come_back_as_levels(call, folder, digits, kind, white):
    zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    levels = (digits * white).astype(kind)
    np.savez(folder / "levels.npz", levels)
    zarr.create_array(str(folder / "levels.zarr"), data=levels)
    expected = LRNNAutoencoder(8, max_iter=5, random_state=0).fit(levels)
    for name in ("levels.npz", "levels.zarr"):
        model = ("--hidden", 8, "--max-iter", 5, "-o", "a.safetensors", "--force")
        assert call("fit", name, *model, cwd=folder).returncode == 0
        for options, unit in ((("--scaled",), 1), ((), white)):
            back = ("-o", "b.npy", "--force", *options)
            done = call("reconstruct", "a.safetensors", name, *back, cwd=folder)
            assert done.returncode == 0, done.stderr
            found = np.load(folder / "b.npy")
            np.testing.assert_allclose(found / unit, expected.reconstruct(levels), atol=1e-5)
    np.save(folder / "shares.npy", digits)  # whose own units these are
    call("reconstruct", "a.safetensors", "shares.npy", "-o", "c.npy", cwd=folder)
    assert np.load(folder / "c.npy").max() <= 1


def test_true_is_one_in_a_file_as_in_python(call, folder, digits):
    bits = digits > 0.5
    expected = LRNNAutoencoder(8, max_iter=5).fit((digits * 255).astype(np.uint8))
    expected.save(folder / "a.safetensors")
    np.save(folder / "bits.npy", bits)
    np.savez(folder / "bits.npz", bits)
    pd.DataFrame(bits).rename(columns=str).to_parquet(folder / "bits.parquet")
    for name in ("bits.npy", "bits.npz", "bits.parquet"):
        done = call("encode", "a.safetensors", name, "-o", "codes.npy", "--force", cwd=folder)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(
            np.load(folder / "codes.npy"), expected.transform(bits), atol=1e-5
        )


@pytest.mark.slow
def test_workers_are_sent_data_without_a_warning(tmp_path, rng):
    pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    np.savez(tmp_path / "x.npz", rng.random((20_000, 80)))
    command = [sys.executable, "-m", "lrnn", "fit", "x.npz", "-o", "a.safetensors", "--hidden", "4"]
    done = subprocess.run(
        [*command, "--max-iter", "3", "--workers", "2"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "arning" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_ctrl_c_among_workers_is_for_the_command_alone(tmp_path, rng, seconds):
    """As a terminal sends it: to all processes. There is no traceback, whenever it comes."""
    pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    np.save(tmp_path / "x.npy", rng.random((200_000, 50), dtype=np.float32))
    command = [sys.executable, "-m", "lrnn", "fit", "x.npy", "-o", "a.safetensors", "--hidden", "9"]
    child = subprocess.Popen(
        [*command, "--max-iter", "100000", "--tol", "0", "--workers", "2", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    )
    time.sleep(seconds)
    for _ in range(5):  # while the workers start, nobody hears it
        os.killpg(child.pid, signal.SIGINT)
        try:
            _, said = child.communicate(timeout=20)
            break
        except subprocess.TimeoutExpired:
            continue
    assert "Traceback" not in said
    if child.returncode == 0:  # it had ended before anybody heard
        assert load(tmp_path / "a.safetensors").history_[-1].stopped != "interrupted"
    else:
        assert child.returncode in (130, -signal.SIGINT)


def test_a_checkpoint_knows_data_on_workers_again(tmp_path):
    pytest.importorskip("distributed", reason="pip install 'lrnn[dask]'")
    script = """if True:
        import numpy as np
        from distributed import Client
        from lrnn import LRNNAutoencoder
        from lrnn.cli.cluster import on_cluster
        from lrnn.tables.table import Table

        X = np.random.default_rng(0).random((100, 4))
        X[:50] = 0  # several blocks are the same
        for data in (X, X, 1 - X):
            with Client(processes=False, n_workers=1, dashboard_address=None):
                rows = on_cluster("x", LRNNAutoencoder(2), Table(data), reset=True)
                held = np.concatenate(list(rows.blocks()))
                print(rows.identity().replace(" ", ""), np.array_equal(held, data))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    (first, a), (again, b), (other, c) = map(str.split, done.stdout.splitlines())
    assert first == again != other
    assert a == b == c == "True"
