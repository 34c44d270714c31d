"""What is written is read again, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lrnn.datasets import read
from lrnn.tables.writers import WRITERS, check_output, write

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(2, 4)),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize("suffix", WRITERS)
def test_bit_for_bit(tmp_path_factory, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="pip install zarr")
    path = tmp_path_factory.mktemp("out") / f"a{suffix}"

    @given(tables)
    def check(data):
        write(path, data)
        found = read(path).data
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found.view(np.int64), data.view(np.int64))

    check()


def test_names_are_kept_and_quoted(tmp_path):
    names = ("plain", "with, comma", 'a "quote"')
    write(tmp_path / "a.csv", np.eye(3), names)
    assert read(tmp_path / "a.csv").names == names


def test_what_cannot_be_written_is_named_first(tmp_path):
    with pytest.raises(ValueError, match=r"a\.xls' is of no known format; .* \.npy, \.npz"):
        check_output(tmp_path / "a.xls")
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere' to write to"):
        check_output(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_output(tmp_path / "a.csv")
    check_output(tmp_path / "fine.csv")
    assert not (tmp_path / "fine.csv").exists()


@pytest.mark.parametrize("version", [2, 3])
def test_a_zarr_group_is_not_replaced_but_an_array_is(tmp_path, version):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "group.zarr", mode="w", zarr_format=version)
    group.create_array("precious", data=np.arange(3.0))
    with pytest.raises(IsADirectoryError, match="no Zarr array; it is left alone"):
        write(tmp_path / "group.zarr", np.ones((2, 2)))
    np.testing.assert_array_equal(zarr.open(tmp_path / "group.zarr")["precious"][:], [0, 1, 2])
    zarr.create_array(str(tmp_path / "a.zarr"), data=np.zeros((1, 1)), zarr_format=version)
    write(tmp_path / "a.zarr", np.ones((2, 2)))
    np.testing.assert_array_equal(read(tmp_path / "a.zarr").data, np.ones((2, 2)))
