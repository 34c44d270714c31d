"""Files that hold arrays: one of several, in groups, sparse, of MATLAB's newer files."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from lrnn.datasets import Reading, open_table, read
from lrnn.tables.read import open_source
from naming import naming

NUMBERS = np.array([[0.5, 1.25, 0.0], [0, -2, 1e20]])
h5py = pytest.importorskip("h5py", reason="pip install h5py")
zarr = pytest.importorskip("zarr", reason="pip install zarr")


def made(folder, suffix, arrays):
    """A file of these arrays; "group/array" is in a group, where the format has groups."""
    path = folder / f"a{suffix}"
    if suffix == ".npz":
        np.savez(path, **arrays)
    elif suffix == ".mat":
        nested = {}
        for name, array in arrays.items():
            *above, last = name.split("/")
            place = nested
            for part in above:
                place = place.setdefault(part, {})
            place[last] = array
        savemat(path, nested)
    elif suffix == ".zarr":
        group = zarr.create_group(store=str(path))
        for name, array in arrays.items():
            group.create_array(name, data=array)
    else:
        with h5py.File(path, "w") as file:
            file.update(arrays)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".zarr", ".h5", ".hdf5"])
def test_one_of_several_arrays_by_its_name(tmp_path, suffix):
    path = made(tmp_path, suffix, {"train": NUMBERS, "test": NUMBERS[:, :2]})
    arrays = path, "train (2, 3)", "test (2, 2)"
    with pytest.raises(ValueError, match=naming(*arrays, "--key", "Reading(key=")):
        read(path)
    np.testing.assert_array_equal(read(path, Reading(key="test")).data, NUMBERS[:, :2])
    np.testing.assert_array_equal(open_table(path, True, Reading(key="train")).data.shape, (2, 3))
    with pytest.raises(ValueError, match=naming(*arrays, "valid")):
        read(path, Reading(key="valid"))


@pytest.mark.parametrize("suffix", [".mat", ".zarr", ".h5"])
def test_arrays_in_groups_go_by_their_path(tmp_path, suffix):
    path = made(tmp_path, suffix, {"a/sub/data": NUMBERS, "a/other": NUMBERS + 1})
    with pytest.raises(ValueError, match=naming("a/sub/data (2, 3)", "a/other (2, 3)", "--key")):
        read(path)
    for key in ("a/sub/data", "/a/sub/data"):
        np.testing.assert_array_equal(read(path, Reading(key=key)).data, NUMBERS)
    (tmp_path / "one").mkdir()
    only = made(tmp_path / "one", suffix, {"deep/er/values": NUMBERS})
    np.testing.assert_array_equal(read(only).data, NUMBERS)


def test_many_arrays_are_not_all_listed(tmp_path):
    path = made(tmp_path, ".npz", {f"x{i}": NUMBERS for i in range(50)})
    with pytest.raises(ValueError, match=naming("x19 (2, 3)", 30, "--key x0")):
        read(path)


def test_links_of_hdf5(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["a/values"] = NUMBERS
        file["a/circle"] = file["a"]
        file["broken"] = h5py.SoftLink("/nowhere")
    np.testing.assert_array_equal(read(path).data, NUMBERS)


def test_an_array_that_needs_no_key(tmp_path):
    zarr.create_array(store=str(tmp_path / "a.zarr"), data=NUMBERS)
    with pytest.raises(ValueError, match=naming("a.zarr", "key")):
        read(tmp_path / "a.zarr", Reading(key="data"))


def test_what_is_asked_for_may_be_no_matrix(tmp_path):
    path = made(tmp_path, ".h5", {"data": NUMBERS, "words": [b"a", b"b"], "vector": np.arange(3)})
    with pytest.raises(ValueError, match=naming("a.h5", "object")):
        read(path, Reading(key="words"))
    with pytest.raises(ValueError, match=naming("a.h5", "(3,)")):
        read(path, Reading(key="vector"))


@pytest.mark.parametrize("suffix", [".npz", ".zarr", ".h5"])
def test_further_axes_are_those_of_images(tmp_path, suffix):
    images = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
    path = made(tmp_path, suffix, {"data": images})
    for table in (read(path), open_table(path, stream=True)):
        assert table.data.shape == (4, 6)
        assert table.image_shape == (2, 3)
    np.testing.assert_array_equal(read(path).data, images.reshape(4, 6))
    if suffix != ".npz":
        rows = np.array([3, 0, 3])
        np.testing.assert_array_equal(open_source(path).take(rows), images.reshape(4, 6)[rows])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_matrices_stay_sparse(tmp_path, form):
    matrix = sparse.coo_array(NUMBERS).asformat(form)
    sparse.save_npz(tmp_path / "a.npz", matrix)
    savemat(tmp_path / "a.mat", {"fea": sparse.csc_array(matrix), "gnd": np.arange(2)})
    for name in ("a.npz", "a.mat"):
        found = read(tmp_path / name).data
        assert isinstance(found, sparse.csr_array)
        np.testing.assert_array_equal(found.toarray(), NUMBERS)


def test_a_sparse_matrix_with_places_outside(tmp_path):
    parts = {"indices": [0, 9], "indptr": [0, 1, 2], "data": [1.0, 1.0]}
    np.savez(tmp_path / "a.npz", format=b"csr", shape=(2, 3), **parts)
    with pytest.raises(ValueError, match=naming("a.npz", "damaged", "indices")):
        read(tmp_path / "a.npz")


def matlab_73(path):
    """As MATLAB's save -v7.3 writes it: HDF5 behind a header, the axes reversed."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array, kind in [
            ("fea", NUMBERS.T, "double"),
            ("mask", (NUMBERS > 0).T.astype(np.uint8), "logical"),
            ("title", np.array([[72], [105]], np.uint16), "char"),
            ("set/inner", NUMBERS.T + 1, "double"),
            ("#refs#/a", NUMBERS, "double"),
        ]:
            file[name] = array
            file[name].attrs["MATLAB_class"] = np.bytes_(kind)
        columns = sparse.csc_array(NUMBERS)
        group = file.create_group("counts")
        group.attrs["MATLAB_class"] = np.bytes_("double")
        group.attrs["MATLAB_sparse"] = np.uint64(2)
        group["data"], group["ir"], group["jc"] = columns.data, columns.indices, columns.indptr
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def test_newer_files_of_matlab(tmp_path, monkeypatch):
    path = tmp_path / "a.mat"
    matlab_73(path)
    matrices = ("counts (2, 3)", "fea (2, 3)", "mask (2, 3)", "set/inner (2, 3)")
    with pytest.raises(ValueError, match=naming(path, *matrices)) as error:
        read(path)
    assert "title" not in str(error.value)
    assert "refs" not in str(error.value)
    np.testing.assert_array_equal(read(path, Reading(key="fea")).data, NUMBERS)
    np.testing.assert_array_equal(read(path, Reading(key="set/inner")).data, NUMBERS + 1)
    np.testing.assert_array_equal(read(path, Reading(key="counts")).data.toarray(), NUMBERS)
    mask = read(path, Reading(key="mask")).data
    assert mask.dtype == np.float64
    np.testing.assert_array_equal(mask, NUMBERS > 0)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ValueError, match=naming("a.mat", "pip install h5py", "-v7")):
        read(path)


def test_damaged_arrays_of_hdf5(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        data = file.create_dataset("data", data=np.ones((50, 40)), compression="gzip")
        place = data.id.get_chunk_info(0).byte_offset
    with open(tmp_path / "a.h5", "r+b") as file:
        file.seek(place)
        file.write(b"damaged")
    for opened in (read, lambda path: list(open_source(path).blocks(0, 9))):
        with pytest.raises(ValueError, match=naming("a.h5", "damaged")):
            opened(tmp_path / "a.h5")
    matlab_73(tmp_path / "a.mat")
    with h5py.File(tmp_path / "a.mat", "r+") as file:
        file["counts/ir"][0] = 99
    with pytest.raises(ValueError, match=naming("a.mat", "damaged", "indices")):
        read(tmp_path / "a.mat", Reading(key="counts"))
