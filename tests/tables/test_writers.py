"""What is written is read again, bit for bit."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.io import loadmat

from lrnn.datasets import open_table, read
from lrnn.tables.read import open_source
from lrnn.tables.writers import WRITERS, check_output, write, write_arrays, write_blocks
from naming import naming

tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 5), st.integers(2, 4)),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.TableWarning")
@pytest.mark.parametrize("suffix", WRITERS)
def test_bit_for_bit(tmp_path_factory, suffix):
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="pip install zarr")
    path = tmp_path_factory.mktemp("out") / f"a{suffix}"

    @given(tables)
    @example(np.array([[np.finfo(float).max, 0], [-1e300, 0]]))  # whose difference is infinite
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
    with pytest.raises(ValueError, match=naming("a.xls", *WRITERS)):
        check_output(tmp_path / "a.xls")
    with pytest.raises(FileNotFoundError, match=naming(tmp_path / "nowhere")):
        check_output(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=naming("a.csv", "folder")):
        check_output(tmp_path / "a.csv")
    check_output(tmp_path / "fine.csv")
    assert not (tmp_path / "fine.csv").exists()


@pytest.mark.parametrize("version", [2, 3])
def test_a_zarr_group_is_not_replaced_but_an_array_is(tmp_path, version):
    zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    group = zarr.open_group(tmp_path / "group.zarr", mode="w", zarr_format=version)
    group.create_array("precious", data=np.arange(3.0))
    with pytest.raises(IsADirectoryError, match=naming("group.zarr")):
        write(tmp_path / "group.zarr", np.ones((2, 2)))
    np.testing.assert_array_equal(zarr.open(tmp_path / "group.zarr")["precious"][:], [0, 1, 2])
    zarr.create_array(str(tmp_path / "a.zarr"), data=np.zeros((1, 1)), zarr_format=version)
    write(tmp_path / "a.zarr", np.ones((2, 2)))
    np.testing.assert_array_equal(read(tmp_path / "a.zarr").data, np.ones((2, 2)))


COLUMNS = [np.array([0.5, 1.5, 2.5]), np.arange(3), ["a", 'b, "quoted"', None]]


def test_columns_of_numbers_and_of_text(tmp_path):
    from pyarrow import parquet

    names = ("x", "n", "label")
    blocks = [[column[:2] for column in COLUMNS], [column[2:] for column in COLUMNS]]
    for suffix in (".csv", ".tsv", ".parquet"):
        write_blocks(tmp_path / f"a{suffix}", blocks, (3, 3), np.float64, names)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == ["x,n,label", "0.5,0,a", '1.5,1,"b, ""quoted"""', "2.5,2,"]
    assert (tmp_path / "a.tsv").read_text().startswith("x\tn\tlabel\n0.5\t0\ta\n")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert [str(kind) for kind in table.schema.types] == ["double", "int64", "string"]
    assert table["label"].to_pylist() == COLUMNS[2]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mat", ".zarr"])
def test_columns_of_formats_without_text(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    if suffix == ".zarr":
        pytest.importorskip("zarr", reason="pip install zarr")
    write_blocks(path, [COLUMNS[:2]], (3, 2), np.float64)
    np.testing.assert_array_equal(read(path).data, np.column_stack(COLUMNS[:2]))
    with pytest.raises(ValueError, match=naming("column 'label'", suffix, ".csv", ".parquet")):
        write_blocks(path, [COLUMNS], (3, 3), np.float64, ("x", "n", "label"))
    np.testing.assert_array_equal(read(path).data, np.column_stack(COLUMNS[:2]))


def test_arrays_by_name(tmp_path):
    images, labels = np.arange(12.0).reshape(2, 2, 3), np.array(["a", "bc"])
    for suffix in (".npz", ".mat"):
        write_arrays(tmp_path / f"a{suffix}", {"data": images, "labels": labels})
        table = read(tmp_path / f"a{suffix}")
        assert table.image_shape == (2, 3)
        np.testing.assert_array_equal(table.data, images.reshape(2, 6))
    assert np.load(tmp_path / "a.npz")["labels"].tolist() == ["a", "bc"]
    assert [str(*cell) for cell in loadmat(tmp_path / "a.mat")["labels"].ravel()] == ["a", "bc"]
    write_arrays(tmp_path / "a.npy", {"data": images})
    for table in (read(tmp_path / "a.npy"), open_table(tmp_path / "a.npy")):
        assert table.image_shape == (2, 3)
    source = open_source(tmp_path / "a.npy")
    assert (source.shape, source.image_shape) == ((2, 6), (2, 3))
    np.testing.assert_array_equal(next(source.blocks(0, 2)), images.reshape(2, 6))
    np.testing.assert_array_equal(source.take(np.array([1])), images[1:].reshape(1, 6))


def test_whole_numbers_may_be_missing_in_a_later_block(tmp_path):
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    blocks = [[np.array([1, 2]), np.array([0.5, 1])], [np.array([3.0, np.nan]), np.array([2, 3])]]
    write_blocks(path, blocks, (4, 2), np.float64, ["id", "x"])
    found = parquet.read_table(path)
    assert [str(kind) for kind in found.schema.types] == ["int64", "double"]
    assert found["id"].to_pylist() == [1, 2, 3, None]
    assert found["x"].to_pylist() == [0.5, 1, 2, 3]
    blocks[1][0][0] = 3.5
    with pytest.raises(ValueError, match=naming("'id'", "int64", "double", ".csv")):
        write_blocks(path, blocks, (4, 2), np.float64, ["id", "x"])
    assert parquet.read_table(path).num_rows == 4  # what was there stays
