"""Raw data in their own units: a scaling that is part of the model, in Python and on the way."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import MinMaxScaler

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment, Scaling
from lrnn.rows.checks import SaturationWarning
from lrnn.tables.ledger import RangeWarning
from lrnn.tables.messages import TableError, TableWarning
from naming import naming
from nearness import assert_near


@pytest.fixture(scope="module")
def wine():
    return load_wine().data


def kinds_of(X, tmp_path):
    """The same numbers in many kinds of containers."""
    yield "list", X.tolist()
    yield "frame", pd.DataFrame(X, columns=[f"a{i}" for i in range(X.shape[1])])
    yield "blocks", lambda: (X[i : i + 50] for i in range(0, len(X), 50))
    np.save(tmp_path / "x.npy", X)
    yield ".npy", tmp_path / "x.npy"
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g")
    yield ".csv", tmp_path / "x.csv"
    yield "memory map", np.load(tmp_path / "x.npy", mmap_mode="r")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    yield "torch", torch.from_numpy(X)
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    yield "dask", da.from_array(X, chunks=(60, X.shape[1]))
    pd.DataFrame(X, columns=[f"a{i}" for i in range(X.shape[1])]).to_parquet(tmp_path / "x.parquet")
    yield ".parquet", tmp_path / "x.parquet"


@pytest.mark.usefixtures("dask_here")
@pytest.mark.parametrize("scale", ["minmax", "max", "auto"])
def test_every_container_is_scaled_alike(wine, tmp_path, scale):
    expected = LRNNAutoencoder(4, max_iter=5, scale=scale, random_state=0).fit(wine)
    codes, back = expected.transform(wine), expected.reconstruct(wine)
    scaled = MinMaxScaler().fit_transform(wine) if scale != "max" else wine / wine.max(axis=0)
    plain = LRNNAutoencoder(4, max_iter=5, random_state=0).fit(scaled)
    np.testing.assert_allclose(codes, plain.transform(scaled), rtol=1e-9)
    np.testing.assert_allclose(expected.score(wine), plain.score(scaled), rtol=1e-9)
    units = plain.reconstruct(scaled) * expected.scaling_.span + expected.scaling_.low
    np.testing.assert_allclose(back, units, rtol=1e-9)
    np.testing.assert_allclose(expected.inverse_transform(codes), back, rtol=1e-9)
    for name, X in kinds_of(wine, tmp_path):
        model = clone(expected).fit(X)
        assert model.scaling_.kind == ("max" if scale == "max" else "minmax"), name
        np.testing.assert_allclose(np.asarray(model.transform(X)), codes, rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(np.asarray(model.reconstruct(X)), back, rtol=1e-6, err_msg=name)
        assert model.score(X) == pytest.approx(expected.score(wine), rel=1e-6)


def test_what_is_in_range_is_left_alone(digits):
    model = LRNNAutoencoder(4, max_iter=3, scale="auto").fit(digits)
    assert model.scaling_.kind == "none"
    levels = (digits * 255).astype(np.uint8)
    model = LRNNAutoencoder(4, max_iter=3, scale="auto").fit(levels)
    assert (model.scaling_.kind, model.white_) == ("none", 255)


def test_sparse_counts_are_divided_by_their_maxima_and_stay_sparse():
    counts = sparse.random_array((60, 20), density=0.2, rng=0) * 30
    counts = sparse.csr_array(np.ceil(counts.toarray()))
    with pytest.warns(SaturationWarning, match=naming("X", "row 0", "column 8", "scale='max'")):
        LRNNAutoencoder(3, max_iter=2).fit(counts)
    model = LRNNAutoencoder(3, max_iter=2, scale="auto").fit(counts)
    assert model.scaling_.kind == "max"
    assert sparse.issparse(model.scaling_.apply(counts))
    full = LRNNAutoencoder(3, max_iter=2, scale="max").fit(counts.toarray())
    np.testing.assert_allclose(
        model.transform(counts), full.transform(counts.toarray()), rtol=1e-9, atol=1e-12
    )
    shifted = sparse.csr_array(counts.toarray() + np.eye(20)[0])
    with pytest.raises(ValueError, match=naming("column 0", "sparse", "max")):
        LRNNAutoencoder(3, scale="minmax").fit(shifted)


def test_values_beyond_the_range_of_training_are_counted(wine):
    model = LRNNAutoencoder(4, max_iter=5, scale="minmax").fit(wine)
    assert model.transform(wine).shape == (178, 4)
    other = wine.copy()
    other[3, 5] = 100.0
    other[7, 5] = -2.0
    with pytest.warns(RangeWarning, match=naming("2 of 2,314", "2 in column 5", 100)):
        model.transform(other)
    with pytest.warns(RangeWarning, match=naming("2,314 of 2,314", "178 in column 0", "units")):
        model.transform(wine * 100 + 1e4)
    with pytest.warns(RangeWarning, match=naming("2 in column 5")):
        model.reconstruct(lambda: iter([other[:100], other[100:]]))
    counts = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 4.0]]))
    model = LRNNAutoencoder(1, max_iter=2, scale="max").fit(counts)
    with pytest.warns(RangeWarning, match=naming("1 in column 0", 6, "0 to 2")):
        model.transform(sparse.csr_array(np.array([[6.0, 4.0]])))


def test_a_stream_needs_a_scaling_that_is_made_beforehand(wine):
    with pytest.raises(ValueError, match=naming("scale='minmax'", "scale=lrnn.Scaling.fit(X")):
        LRNNAutoencoder(4, scale="minmax").partial_fit(wine)
    model = LRNNAutoencoder(4, scale=Scaling.fit(wine, "minmax"), random_state=0)
    for part in np.array_split(wine, 3):
        model.partial_fit(part)
    assert model.reconstruct(wine)[:, 12].max() > 500


FRAME = pd.DataFrame(
    {
        "id": [f"row{i}" for i in range(12)],
        "size": [1.0, 2.0, np.nan, 4.0, 5.0, 1.5, 2.5, 3.5, 0.5, 1.0, 2.0, 3.0],
        "colour": ["red", "blue", "red", None, "green", "red"] * 2,
        "smokes": [True, False] * 6,
        "class": list("aabbccaabbcc"),
    }
)
HOW = {"label": "class", "index": "id", "categories": "onehot", "missing": "median"}


def test_a_frame_of_all_kinds_of_columns():
    scaling = Scaling.fit(FRAME, "minmax", **HOW)
    assert scaling.names == ("size", "colour=blue", "colour=green", "colour=red", "smokes")
    scaled = scaling.apply(FRAME)
    assert scaled[2].tolist() == [(2.0 - 0.5) / 4.5, 0, 0, 1, 1]  # the median, and its own colour
    assert scaled[3].tolist() == [(4.0 - 0.5) / 4.5, 0, 0, 1, 0]  # red occurs most
    frame = scaling.to_frame(scaled)
    assert frame.names == ("size", "colour", "smokes")
    np.testing.assert_allclose(frame.column("size"), FRAME["size"].fillna(2.0))
    assert frame.column("colour").tolist() == FRAME["colour"].fillna("red").tolist()
    again = Scaling.from_json(json.loads(json.dumps(scaling.to_json())))
    np.testing.assert_array_equal(again.apply(FRAME), scaled)
    # any order of columns, and others beside them
    np.testing.assert_array_equal(scaling.apply(FRAME[FRAME.columns[::-1]].assign(z=1)), scaled)
    dropped = Scaling.fit(FRAME, "minmax", **{**HOW, "missing": "drop"})
    assert dropped.apply(FRAME).shape == (9, 5)


def test_texts_that_training_has_not_seen_are_counted():
    model = LRNNAutoencoder(2, scale=Scaling.fit(FRAME, **HOW), max_iter=2).fit(FRAME)
    new = FRAME.assign(colour=["violet"] * 3 + ["red"] * 9)
    with pytest.warns(RangeWarning, match=naming("3 cells", "colour", "violet")):
        model.transform(new)


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (FRAME, ("column 'id'", "row0", "row 0", 12, "drop='id'", "index='id'")),
        (FRAME[["size"]], ("column 'size'", "row 2", "missing='allow'")),
        (FRAME[["class", "smokes"]], ("column 'class'", "categories='onehot'", "label='class'")),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01", "2021-01-01"]), "x": [1, 2]}),
         ("column 't'", "row 0", "drop='t'")),
    ],
)  # fmt: skip
def test_what_a_frame_needs_is_said(frame, named):
    with pytest.raises(TableError, match=naming(*named)):
        LRNNAutoencoder(1, scale="auto").fit(frame)


def test_a_column_that_counts_the_rows_is_reported(wine):
    numbered = np.column_stack([np.arange(178), wine])
    with pytest.warns(TableWarning, match=naming("column 0", "0 to 177", "drop=0")):
        LRNNAutoencoder(4, max_iter=2, scale="minmax").fit(numbered)
    frame = pd.DataFrame(numbered).rename(columns=str)
    with pytest.warns(TableWarning, match=naming("column '0'", "index='0'", "drop='0'")):
        LRNNAutoencoder(4, max_iter=2, scale="minmax").fit(frame)


def test_columns_of_arrays_are_chosen_by_number(wine):
    scaling = Scaling.fit(wine, "minmax", drop=[0, 12], label=3)
    assert scaling.apply(wine).shape == (178, 10)
    model = LRNNAutoencoder(3, scale=scaling, max_iter=2).fit(wine)
    assert model.n_features_in_ == 10
    assert model.reconstruct(wine).shape == (178, 10)


def test_a_model_of_the_command_line_answers_the_same_in_python(call, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    options = ("--label", "class", "--index", "id", "--categories", "onehot", "--missing", "median")
    done = call("fit", "t.csv", *options, "-o", "m.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.said
    for command in ("encode", "reconstruct"):
        done = call(command, "m.safetensors", "t.csv", "-o", f"{command}.csv", cwd=tmp_path)
        assert done.returncode == 0, done.said
    model = lrnn.load(tmp_path / "m.safetensors")
    codes = pd.read_csv(tmp_path / "encode.csv")
    assert list(codes.columns) == ["id", "code0", "code1", "code2", "class"]
    assert codes["id"].tolist() == FRAME["id"].tolist()
    assert codes["class"].tolist() == FRAME["class"].tolist()
    found = codes[["code0", "code1", "code2"]].to_numpy()
    back = pd.read_csv(tmp_path / "reconstruct.csv")
    assert list(back.columns) == ["id", "size", "colour", "smokes", "class"]
    for X in (FRAME, pd.read_csv(tmp_path / "t.csv"), tmp_path / "t.csv"):
        np.testing.assert_allclose(model.transform(X), found, atol=1e-12)
        np.testing.assert_allclose(model.reconstruct(X)[:, 0], back["size"], atol=1e-9)


@pytest.mark.slow
def test_data_in_other_units_are_reported_everywhere(tmp_path, wine):
    names = load_wine().feature_names
    pd.DataFrame(wine, columns=names).to_csv(tmp_path / "wine.csv", index=False)
    pd.DataFrame(wine * 100, columns=names).to_csv(tmp_path / "other.csv", index=False)
    LRNNAutoencoder(4, max_iter=5, scale="minmax").fit(pd.read_csv(tmp_path / "wine.csv")).save(
        tmp_path / "m.safetensors"
    )
    for command, *options in (
        ("encode", "-o", "codes.csv"),
        ("reconstruct", "-o", "back.csv"),
        ("simulate", "--events", "1e4", "--no-figure"),
        ("report", "-o", "page"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "lrnn", command, "m.safetensors", "other.csv", *options,
             "--json"],
            capture_output=True, text=True, cwd=tmp_path, check=True,
        )  # fmt: skip
        assert done.stderr.count("warning:") == 1
        document = json.loads(done.stdout)
        count = document["cut_off"]["values"]
        assert count > 2_000
        assert f"{count:,} of 2,314" in done.stderr
        assert document["cut_off"]["columns"]["alcohol"] == 178
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert f"{count:,} of 2,314" in page
    assert "with all rates 1" not in page


def test_from_a_raw_table_to_a_report_in_four_commands(call, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 10, 60).round(1),
            "weight": rng.normal(70, 12, 60).round(1),
            "sex": rng.choice(["f", "m"], 60),
            "diagnosis": rng.choice(["ill", "well"], 60),
        }
    )
    frame.loc[[3, 9], "weight"] = np.nan
    frame.to_csv(tmp_path / "patients.csv")
    done = call("data", "describe", "patients.csv", cwd=tmp_path, columns=120)
    assert done.returncode == 0, done.said
    command = done.stdout.strip().splitlines()[-1].split()
    assert command[:3] == ["lrnn", "fit", "patients.csv"]
    for words in ("--index 'Unnamed: 0'", "--label diagnosis", "--categories onehot",
                  "--missing allow"):  # fmt: skip
        assert words in " ".join(command)
    for line in (
        shlex.split(done.stdout.strip().splitlines()[-1])[1:],
        ["encode", "patients.safetensors", "patients.csv", "-o", "codes.csv"],
        ["report", "patients.safetensors", "patients.csv", "-o", "page"],
    ):
        done = call(*line, cwd=tmp_path)
        assert done.returncode == 0, done.said
    codes = pd.read_csv(tmp_path / "codes.csv")
    assert codes.shape == (60, 4)
    assert codes["Unnamed: 0"].tolist() == list(range(60))
    assert codes["diagnosis"].tolist() == frame["diagnosis"].tolist()
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "coloured by diagnosis" in page


def test_new_rows_need_neither_label_nor_index(call, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    options = ("--label", "class", "--index", "id", "--categories", "onehot", "--missing", "median")
    assert call("fit", "t.csv", *options, "-o", "m.safetensors", cwd=tmp_path).returncode == 0
    FRAME.drop(columns=["class", "id"]).to_csv(tmp_path / "new.csv", index=False)
    for command in ("encode", "reconstruct"):
        done = call(command, "m.safetensors", "new.csv", "-o", f"{command}.csv", cwd=tmp_path)
        assert done.returncode == 0, done.said
    found = pd.read_csv(tmp_path / "encode.csv")
    assert list(found.columns) == ["code0", "code1", "code2"]
    model = lrnn.load(tmp_path / "m.safetensors")
    np.testing.assert_allclose(found, model.transform(FRAME), atol=1e-12)


def test_a_model_reads_a_file_as_it_did_in_training(call, tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n?;3\n0,5;9\n2,5;1\n")
    reading = ("--decimal", ",", "--na", "?", "--missing", "median")
    assert call("fit", "t.csv", *reading, "-o", "m.safetensors", cwd=tmp_path).returncode == 0
    assert call("encode", "m.safetensors", "t.csv", "-o", "c.npy", cwd=tmp_path).returncode == 0
    model = lrnn.load(tmp_path / "m.safetensors")
    np.testing.assert_allclose(model.transform(tmp_path / "t.csv"), np.load(tmp_path / "c.npy"))


def test_columns_of_one_name_are_refused(wine):
    frame = pd.DataFrame(wine[:, :3], columns=["a", "a", "b"])
    with pytest.raises(ValueError, match=naming("X", "column", "'a'")):
        LRNNAutoencoder(2, scale="auto").fit(frame)


def test_levels_come_back_as_levels_if_the_model_scales(digits):
    levels = (digits * 255).astype(np.uint8)
    model = LRNNAutoencoder(8, max_iter=3, scale="auto", random_state=0).fit(levels)
    plain = LRNNAutoencoder(8, max_iter=3, random_state=0).fit(levels)
    np.testing.assert_allclose(model.reconstruct(levels), 255 * plain.reconstruct(levels))
    codes = model.transform(levels)
    np.testing.assert_allclose(model.inverse_transform(codes), model.reconstruct(levels))
    np.testing.assert_allclose(model.reconstruct(digits), plain.reconstruct(digits))  # their units


def test_what_lrnn_has_exported_goes_into_its_models(call, tmp_path):
    assert call("fit", "iris", "-o", "m.safetensors", cwd=tmp_path).returncode == 0
    assert call("data", "export", "iris", "iris.csv", cwd=tmp_path).returncode == 0
    for source in ("iris", "iris.csv"):
        output = ("-o", f"{source}.npy")
        done = call("encode", "m.safetensors", source, *output, cwd=tmp_path)
        assert done.returncode == 0, done.said
    assert_near(np.load(tmp_path / "iris.npy"), np.load(tmp_path / "iris.csv.npy"), 4 + 3)


def test_decimal_commas_are_recognised(call, tmp_path):
    (tmp_path / "t.csv").write_text("w;v\n57,4;1,2\n60,1;1,3\n70,2;1,5\n")
    done = call("fit", "t.csv", "-o", "m.safetensors", cwd=tmp_path)
    assert "--decimal ," in done.said
    done = call("data", "describe", "t.csv", cwd=tmp_path)
    assert done.stdout.strip().endswith("lrnn fit t.csv --decimal , -o t.safetensors")


@pytest.mark.parametrize("scale", [None, "minmax"])
@pytest.mark.parametrize("from_file", [False, True])
def test_columns_of_files_are_found_by_their_names(wine, tmp_path, scale, from_file):
    frame = pd.DataFrame(MinMaxScaler().fit_transform(wine)[:, :4], columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[["c", "a", "d", "b"]].to_csv(tmp_path / "reordered.csv", index=False)
    frame[["a", "b", "c"]].to_csv(tmp_path / "less.csv", index=False)
    model = LRNNAutoencoder(2, scale=scale, max_iter=5, random_state=0)
    model.fit(tmp_path / "t.csv" if from_file else frame)
    codes = model.transform(frame)
    for name in ("t.csv", "reordered.csv"):
        np.testing.assert_allclose(model.transform(tmp_path / name), codes, rtol=1e-9)
    with pytest.raises(ValueError, match=naming("less.csv", "'d'", "'a', 'b', 'c'")):
        model.transform(tmp_path / "less.csv")


def test_what_training_cuts_off_is_said():
    """A scaling that was made of other data; and rows that it leaves out."""
    how = Scaling.fit(pd.DataFrame({"a": [0.0, 10.0], "b": [0.0, 5.0]}), "minmax", missing="drop")
    frame = pd.DataFrame({"a": [1.0, 20, 30, None, 5], "b": [1.0, 2, 3, 4, 5]})
    cut_off = naming("2 of 8", "2 in column 'a'", 30, "1 row", 3)
    with pytest.warns(RangeWarning, match=cut_off):
        LRNNAutoencoder(1, scale=how, max_iter=2).fit(frame)
    how = Scaling.fit(np.array([[0.0, 0.0], [10.0, 5.0]]), "minmax")
    with pytest.warns(RangeWarning, match=naming("2 in column 0", 30)):
        LRNNAutoencoder(1, scale=how, max_iter=2).fit(frame.dropna().to_numpy())


@pytest.mark.filterwarnings("default", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_cut_off_is_counted_by_the_columns_of_the_file(call, tmp_path):
    """Also where columns before it are left out, and where text became several attributes."""
    table = pd.DataFrame({"id": ["u", "v", "w", "x"], "note": "none"})
    table["sex"], table["age"] = ["f", "m", "f", "m"], [31.0, 42, 53, 64]
    table["height"] = [1.5, 1.6, 1.7, 1.8]
    taken = {"index": "id", "drop": ["note"], "categories": "onehot"}
    model = LRNNAutoencoder(2, scale=Scaling.fit(table, **taken), max_iter=5).fit(table)
    other = table.assign(age=[31.0, 420, 530, 64])
    with pytest.warns(RangeWarning, match=naming("2 in column 'age'", 530)):
        model.transform(other)
    table.to_csv(tmp_path / "t.csv", index=False)
    other.to_csv(tmp_path / "other.csv", index=False)
    options = ("--index", "id", "--drop", "note", "--categories", "onehot", "--hidden", 2)
    assert call("fit", "t.csv", *options, cwd=tmp_path).returncode == 0
    done = call("encode", "t.safetensors", "other.csv", "-o", "codes.csv", cwd=tmp_path)
    assert done.names("2 in column 4", "age", 530)
    options = ("--index", "id", "--drop", "note,sex", "--scale", "none")
    done = call("fit", "t.csv", *options, "-o", "none.safetensors", cwd=tmp_path)
    assert done.names(31, "row 1", "column 4", "age")
    for name in ("t.csv", "other.csv"):  # without names
        lines = (tmp_path / name).read_text().splitlines(keepends=True)[1:]
        (tmp_path / name).write_text("".join(lines))
    options = ("--index", 1, "--drop", 2, "--categories", "onehot", "--hidden", 2, "--no-header")
    assert call("fit", "t.csv", *options, "--force", cwd=tmp_path).returncode == 0
    done = call("encode", "t.safetensors", "other.csv", "-o", "new.csv", "--json", cwd=tmp_path)
    assert done.names("2 in column 4", 530)
    assert json.loads(done.stdout)["cut_off"]["columns"] == {"column 4": 2}


@pytest.mark.filterwarnings("default")
def test_an_empty_corner_stands_above_names_of_rows(call, tmp_path):
    (tmp_path / "t.csv").write_text(",2019,2020\nx,1,2\ny,3,1\n")
    done = call("data", "describe", "t.csv", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["rows"] == 2
    assert [c["name"] for c in document["columns"]] == ["Unnamed: 0", "2019", "2020"]


def test_sparse_values_below_zero_have_a_remedy_that_exists():
    matrix = sparse.csr_array(np.array([[-1.0, 0.0], [2.0, 3.0]]))
    for scale in ("auto", "max"):
        with pytest.raises(TableError, match=naming("row 0", "column 0", -1, "X.toarray()")):
            LRNNAutoencoder(1, scale=scale).fit(matrix)


def test_scaling_of_objects_that_are_numbers_and_of_frames_of_dask(rng):
    X = rng.random((12, 5)) * 40
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'lrnn[dask]'")
    frame = pd.DataFrame(X, columns=list("abcde"))
    expected = LRNNAutoencoder(2, scale="max", max_iter=3, random_state=0).fit(X)
    for rows in (X.astype(object), X.tolist(), X.astype(str), dd.from_pandas(frame, npartitions=2)):
        model = LRNNAutoencoder(2, scale="max", max_iter=3, random_state=0).fit(rows)
        assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-9)
    nothing = dd.from_pandas(frame[:0], npartitions=1)
    with pytest.raises(ValueError, match=naming("X", "(0, 5)")):
        LRNNAutoencoder(2, scale="max").fit(nothing)


def test_a_scaling_of_a_frame_knows_the_order_of_its_columns(rng, tmp_path):
    frame = pd.DataFrame(rng.random((30, 3)) * [1, 2, 4], columns=list("abc"))
    how = Scaling.fit(frame, "minmax")
    turned = frame[list("cba")]
    for work in (
        how.apply,
        lambda X: LRNNAutoencoder(2, scale=how).fit(X),
        lambda X: Moment.of(X, scale=how),
        lambda X: LRNNAutoencoder(2, scale=Scaling.from_json(how.to_json())).fit(X),
    ):
        with pytest.raises(ValueError, match=naming("column 'c'", "X[['a', 'b', 'c']]")):
            work(turned)
    np.testing.assert_array_equal(how.apply(turned[list(how.seen)]), how.apply(frame))
    assert_near(how.apply(frame.to_numpy()), how.apply(frame), 3, size=1)
    LRNNAutoencoder(2, scale=how).fit(frame).save(tmp_path / "m.safetensors")
    assert lrnn.load(tmp_path / "m.safetensors").scaling_.seen == tuple("abc")


@pytest.mark.parametrize("model", [LRNNAutoencoder(1, scale="minmax"), LRNNClassifier(3)])
def test_columns_of_text_name_a_remedy_that_exists(model):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4] * 5, "b": ["x", "y", "z", "x"] * 5})
    y = [0, 1] * 10
    remedy = f"scale=lrnn.Scaling.fit(X, '{model.scale}', ...)"
    with pytest.raises(ValueError, match=naming("column 'b'", "categories='onehot'", remedy)):
        model.fit(frame, y)
    scaling = Scaling.fit(frame, model.scale, categories="onehot")
    assert clone(model).set_params(scale=scaling).fit(frame, y).weights_.sizes[0] == 4


def test_a_name_that_is_nearly_that_of_a_column_finds_it(wine):
    names = load_wine().feature_names
    table = pd.DataFrame(np.asarray(wine), columns=names)
    with pytest.raises(ValueError, match=naming("X", "Prolin", "'proline', 'alcohol'")):
        Scaling.fit(table, drop="Prolin")
    with pytest.raises(ValueError, match=naming("X", 99, "alcohol", "proline")):
        Scaling.fit(table, drop=99)
    model = LRNNAutoencoder(2, scale=Scaling.fit(table, drop="hue")).fit(table)
    with pytest.raises(ValueError, match=naming("X", "'ash'", "'ashes', 'alcohol'")):
        model.transform(table.rename(columns={"ash": "ashes"}))
