"""``lrnn detect``, run as a person would run it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.metrics import roc_auc_score

from lrnn import LRNNAutoencoder, LRNNOutlierDetector, Scaling, load
from naming import naming

pytestmark = pytest.mark.usefixtures("unrendered")

TELLS = pytest.mark.filterwarnings("default")  # errors, otherwise


@pytest.fixture(scope="module")
def wine():
    found = load_wine(as_frame=True)
    frame = found.frame.drop(columns="target")
    frame.insert(0, "id", [f"w{i}" for i in range(len(frame))])
    return frame.assign(kind=np.array(["red", "white", "rosé"])[found.target])


@pytest.fixture(scope="module")
def dirty(wine):
    """Wine with two absurd cells."""
    frame = wine.copy()
    frame.loc[7, "alcohol"] = 99.0
    frame.loc[20, "hue"] = -5.0
    return frame


@pytest.fixture(scope="module")
def folder(call, wine, dirty, tmp_path_factory):
    """Tables, an autoencoder, and a detector that a command has kept."""
    folder = tmp_path_factory.mktemp("detect")
    wine.to_csv(folder / "clean.csv", index=False)
    wine.drop(columns=["id", "kind"]).to_csv(folder / "bare.csv", index=False)
    dirty.to_csv(folder / "dirty.csv", index=False)
    X = np.random.default_rng(0).random((40, 6))
    np.save(folder / "x.npy", X)
    LRNNAutoencoder(2, max_iter=5).fit(X).save(folder / "auto.safetensors")
    done = call(
        "detect", "dirty.csv", "--fit-on", "clean.csv", "--index", "id", "--label", "kind",
        "--save", "kept.safetensors", "-o", "first.csv", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "said.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def test_scores_are_those_of_the_model(folder, dirty):
    found, model = pd.read_csv(folder / "first.csv"), load(folder / "kept.safetensors")
    assert list(found.columns[:4]) == ["id", "score", "p-value", "verdict"]
    assert found.columns[-1] == "kind"
    assert (found.id == dirty.id).all()
    assert (found.kind == dirty.kind).all()
    np.testing.assert_allclose(found.score, model.score_samples(dirty), rtol=1e-9)
    np.testing.assert_allclose(found["p-value"], model.p_values(dirty), rtol=1e-9)
    assert ((found.verdict == "outlier") == (model.predict(dirty) < 0)).all()
    told = model.explain(dirty)
    for row in range(0, len(dirty), 7):
        for place, i in enumerate(told.strongest(row), start=1):
            assert found[f"attribute {place}"][row] == told.names[i]
            assert found[f"value {place}"][row] == pytest.approx(told.values[i][row])
            assert found[f"expected {place}"][row] == pytest.approx(told.expected[i][row])
            assert found[f"share {place}"][row] == pytest.approx(told.share(row, i))


def test_an_absurd_cell_is_named_first_in_its_row(folder):
    found = pd.read_csv(folder / "first.csv")
    assert set(found.score.nsmallest(2).index) == {7, 20}
    for row, name, value in ((7, "alcohol", 99.0), (20, "hue", -5.0)):
        assert found["attribute 1"][row] == name
        assert found["value 1"][row] == value
        assert found["share 1"][row] > 0.8
        assert found.verdict[row] == "outlier"
    said = (folder / "said.txt").read_text(encoding="utf-8")
    lines = [line for line in said.splitlines() if "w7 " in line or "w20 " in line]
    assert "alcohol" in lines[0]
    assert "hue" in lines[1]
    count = int((found.verdict == "outlier").sum())
    model = load(folder / "kept.safetensors")
    share, width = 100 * model.flagged_share_, model.autoencoder_.hidden_layer_sizes[0]
    numbers = (f"{count} of 178", f"{share:.3g} %", width, "2, 4, 7", "--hidden")
    assert re.search(naming(*numbers), " ".join(said.split()))


def test_a_model_that_was_kept_says_the_same(call, folder, tmp_path):
    kept = folder / "kept.safetensors"
    done = call(
        "detect", folder / "dirty.csv", "--model", kept, "-o", tmp_path / "o.csv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o.csv").read_bytes() == (folder / "first.csv").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]


def test_and_so_does_a_model_of_python(call, folder, wine, dirty, tmp_path):
    """With a scaling that knows the columns, and with one that the model makes itself."""
    how = Scaling.fit(wine, "open", index="id", label="kind")
    LRNNOutlierDetector(scale=how, random_state=0).fit(wine).save(tmp_path / "a.safetensors")
    plain = wine.drop(columns=["id", "kind"])
    LRNNOutlierDetector(random_state=0).fit(plain).save(tmp_path / "b.safetensors")
    first = pd.read_csv(folder / "first.csv")
    for name, more in (("a", ()), ("b", ("--index", "id", "--label", "kind"))):
        done = call(
            "detect", folder / "dirty.csv", "--model", f"{name}.safetensors", "-o", f"{name}.csv",
            *more, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / f"{name}.csv"), first, rtol=1e-6)


def test_columns_that_no_table_has_are_refused_and_labels_that_are_missing_told(
    call, folder, tmp_path
):
    how = (
        "detect",
        folder / "dirty.csv",
        "--fit-on",
        folder / "clean.csv",
        "-o",
        tmp_path / "s.csv",
    )
    done = call(*how, "--index", "ID")
    assert done.returncode == 2
    assert done.names("--index", "ID", "id")
    how = ("detect", folder / "bare.csv", *how[2:])
    done = call(*how, "--label", "kind", "--drop", "id")
    assert done.returncode == 0, done.stderr
    assert done.names("bare.csv", "kind")


def test_clean_rows_need_neither_label_nor_names(call, folder, tmp_path):
    done = call(
        "detect", folder / "dirty.csv", "--fit-on", folder / "bare.csv", "--index", "id",
        "--label", "kind", "-o", "o.csv", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "o.csv"), pd.read_csv(folder / "first.csv"), rtol=1e-6
    )


def test_rows_are_learnt_from_the_data_themselves(call, folder, dirty, tmp_path):
    done = call(
        "detect", folder / "dirty.csv", "--index", "id", "--label", "kind", "--hidden", "3",
        "--contamination", "0.02", "--seed", "5", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, document = pd.read_csv(tmp_path / "dirty-scores.csv"), json.loads(done.stdout)
    rows = dirty.drop(columns=["id", "kind"])
    model = LRNNOutlierDetector(3, contamination=0.02, random_state=5).fit(rows)
    np.testing.assert_allclose(found.score, model.score_samples(rows), rtol=1e-6)
    assert document["hidden"] == [3]
    assert document["widths_tried"] is None
    assert document["contamination"] == 0.02
    assert document["outliers"] == (found.verdict == "outlier").sum() == 4
    assert document["strangest"][0]["row"] == 8
    assert document["strangest"][0]["index"] == "w7"
    assert document["strangest"][0]["reasons"][0]["attribute"] == "alcohol"


def test_large_tables_are_judged_some_rows_at_a_time(call, folder, tmp_path, monkeypatch):
    line = ("detect", folder / "dirty.csv", "--model", folder / "kept.safetensors", "-o", "o.csv")
    told = []
    for cells in (10**6, 1500):
        monkeypatch.setattr("lrnn.cli.judging.AT_ONCE", cells)
        found = json.loads(call(*line, "--force", "--json", cwd=tmp_path).stdout)["strangest"]
        told.append([(row["row"], row["reasons"][0]["attribute"]) for row in found])
    assert told[0] == told[1]
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "o.csv"), pd.read_csv(folder / "first.csv"), rtol=1e-9
    )


def mixed(rows=300):
    rng = np.random.default_rng(0)
    a = rng.random(rows)
    return pd.DataFrame({"a": a, "b": 10 * a, "t": np.where(a > 0.5, "x", "y")})


@TELLS
def test_text_is_judged_as_one_column_and_missing_cells_by_the_others(call, tmp_path):
    clean = mixed()
    clean.loc[11, "b"] = np.nan
    table = mixed()
    table.loc[[3, 5], "b"] = np.nan, -40
    table.loc[8, "t"] = "new"
    clean.to_csv(tmp_path / "clean.csv", index=False)
    table.to_csv(tmp_path / "table.csv", index=False)
    line = ("detect", "table.csv", "--fit-on", "clean.csv", "--categories", "onehot")
    done = call(*line, "--missing", "allow", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.names("table.csv", 1)
    assert json.loads(done.stdout)["cells_missing"] == 1
    found = pd.read_csv(tmp_path / "table-scores.csv")
    assert len(found) == 300
    assert set(found["attribute 1"]) <= {"a", "b", "t"}
    assert (found["attribute 1"][5], found["value 1"][5]) == ("b", "-40.0")
    assert found["attribute 1"][8] == "t"
    assert found["expected 1"][8] in ("x", "y")
    assert found.verdict[8] == "outlier"
    done = call(*line, "--missing", "drop", "--force", "--json", cwd=tmp_path)
    found = pd.read_csv(tmp_path / "table-scores.csv")
    assert 4 not in set(found.row)
    assert set(found.row) == set(range(1, 301)) - {4}
    assert found["attribute 1"][found.row == 6].item() == "b"
    assert json.loads(done.stdout)["cut_off"]["rows_left_out"] == 1


def test_labels_tell_how_well_rows_are_told_apart(call, folder, dirty, tmp_path):
    kept = folder / "kept.safetensors"
    line = ("detect", folder / "dirty.csv", "--model", kept, "--force", "--json")
    document = json.loads(call(*line, "--normal", "red", cwd=tmp_path).stdout)
    scores = pd.read_csv(tmp_path / "dirty-scores.csv").score
    assert document["roc_auc"] == pytest.approx(roc_auc_score(dirty.kind == "red", scores))
    assert document["normal"] == "red"
    assert json.loads(call(*line, cwd=tmp_path).stdout)["roc_auc"] is None  # of three kinds
    done = call(*line, "--normal", "green", cwd=tmp_path)
    assert done.returncode == 2
    assert done.names("--normal", "green", "red", "white")
    dirty.assign(kind=np.where(dirty.kind == "red", 1, 0)).to_csv(tmp_path / "two.csv", index=False)
    done = call("detect", "two.csv", "--model", kept, "-o", "two-s.csv", cwd=tmp_path)
    area = roc_auc_score(dirty.kind != "red", scores)
    assert done.shows(f"{area:.4f}", 0)


@pytest.mark.parametrize("ending", [".tsv", ".parquet"])
def test_other_formats(call, folder, tmp_path, ending):
    kept = folder / "kept.safetensors"
    output = tmp_path / f"o{ending}"
    done = call("detect", folder / "dirty.csv", "--model", kept, "-o", output, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pd.read_parquet(output) if ending == ".parquet" else pd.read_csv(output, sep="\t")
    first = pd.read_csv(folder / "first.csv")
    pd.testing.assert_frame_equal(found, first, check_dtype=False)


def test_arrays_sparse_ones_and_data_sets(call, folder, tmp_path):
    S = sparse.random_array((80, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    sparse.save_npz(tmp_path / "s.npz", S)
    for data, X in ((folder / "x.npy", np.load(folder / "x.npy")), ("s.npz", S)):
        done = call("detect", data, "--hidden", "3", "-o", "o.csv", "--force", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = pd.read_csv(tmp_path / "o.csv")
        model = LRNNOutlierDetector(3, random_state=0).fit(X)
        np.testing.assert_allclose(found.score, model.score_samples(X), rtol=1e-6)
        assert found.row.tolist() == list(range(1, X.shape[0] + 1))
    done = call("detect", "wine", "--hidden", "3", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert set(pd.read_csv(tmp_path / "wine-scores.csv").label.astype(str)) == set("123")


@TELLS
@pytest.mark.parametrize(
    ("table", "named"),
    [
        ("a,b\n1,2\n", ["2 rows", 1]),
        ("a,t\n1,x\n2,y\n3,x\n", ["t.csv", "t", "row 1", "--categories onehot"]),
        ("a,b\n1,2\n3,\n4,5\n", ["t.csv", "row 2", "column 2", "b", "--missing allow"]),
        ("a,b\n", ["t.csv"]),
    ],
)
def test_what_cannot_be_learnt_from_is_told_in_a_line(call, tmp_path, table, named):
    (tmp_path / "t.csv").write_text(table)
    done = call("detect", "t.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.names(*named)
    assert "--debug" not in done.said
    assert not (tmp_path / "t-scores.csv").exists()


@TELLS
def test_rows_that_are_all_the_same_are_normal(call, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20)
    done = call("detect", "t.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outliers"] == 0


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("none.csv", "none.csv"),
        ("dirty.csv --model none.safetensors", "none.safetensors"),
        ("dirty.csv --model .", "'.' .safetensors --save"),
        ("dirty.csv --model auto.safetensors", "auto.safetensors --save"),
        ("dirty.csv --model clean.csv", "clean.csv"),
        ("kept.safetensors", "kept.safetensors"),
        ("x.npy --model kept.safetensors", "x.npy 6 15"),
        ("dirty.csv --fit-on none.csv", "none.csv"),
        ("dirty.csv --model kept.safetensors --hidden 3 --drop hue", "--drop --hidden --model"),
        ("dirty.csv --model kept.safetensors --scale auto", "--scale --model"),
        ("dirty.csv --model kept.safetensors --fit-on clean.csv", "--fit-on --model"),
        ("dirty.csv --contamination 0.6", "--contamination 0.6 auto 0.5"),
        ("dirty.csv --hidden 3+5 --index id --label kind", "--hidden 3+5"),
        ("dirty.csv -o scores.npy", "--output scores.npy .csv .tsv .parquet"),
        ("dirty.csv --save model.csv", "--save model.csv .safetensors"),
        ("dirty.csv --label kind --index id --normal pink --hidden 1", "--normal pink red white"),
        ("x.npy --normal 1 --hidden 1", "--normal x.npy --label"),
    ],
)
def test_mistakes_are_told_in_a_line(call, folder, words, named):
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = call("detect", *words.split(), cwd=folder)
    assert done.returncode in (1, 2)
    assert done.names(*named.split())
    assert "Traceback" not in done.stderr
    assert "--debug" not in done.said
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_columns_that_the_model_knows_are_found_by_their_names(call, folder, wine, tmp_path):
    kept = folder / "kept.safetensors"
    turned = wine[wine.columns[::-1]].assign(more=1.0)
    turned.to_csv(tmp_path / "turned.csv", index=False)
    done = call("detect", "turned.csv", "--model", kept, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "turned-scores.csv")
    np.testing.assert_allclose(found.score, load(kept).score_samples(wine), rtol=1e-9)
    wine.drop(columns="ash").to_csv(tmp_path / "less.csv", index=False)
    done = call("detect", "less.csv", "--model", kept, cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("less.csv", "ash")


@pytest.mark.parametrize(
    "words",
    [
        "encode kept.safetensors dirty.csv -o c.csv",
        "reconstruct kept.safetensors dirty.csv -o c.csv",
        "classify kept.safetensors dirty.csv -o c.csv",
        "simulate kept.safetensors dirty.csv",
        "live kept.safetensors dirty.csv -o l.html",
        "export kept.safetensors -o k.onnx",
        "report auto.safetensors x.npy --against kept.safetensors -o page",
        "fit clean.csv --index id --label kind --classify --pretrain kept.safetensors",
    ],
)
def test_other_commands_say_that_a_detector_is_not_for_them(call, folder, words):
    done = call(*words.split(), cwd=folder)
    assert done.returncode == 1
    assert done.names("kept.safetensors", "lrnn detect", "--model kept.safetensors")


def test_inspect_tells_how_it_judges(call, folder):
    model = load(folder / "kept.safetensors")
    done = call("inspect", "kept.safetensors", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.shows(f"{model.offset_:.4g}", f"{100 * model.flagged_share_:.3g} %")
    document = json.loads(call("inspect", "kept.safetensors", "--json", cwd=folder).stdout)
    assert document["offset"] == model.offset_
    assert document["flagged_share"] == model.flagged_share_
    assert document["typical_rows"] == len(model.typical_counts_)
    assert document["held_out"] == 178


def test_a_page_beside_the_scores_and_by_lrnn_report(call, folder, tmp_path):
    kept, data = folder / "kept.safetensors", folder / "dirty.csv"
    done = call("detect", data, "--model", kept, "--report", "a", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["report"] == "a/index.html"
    done = call("report", kept, data, "-o", "b", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["outliers"] == (pd.read_csv(folder / "first.csv").verdict == "outlier").sum()
    for name in "ab":
        assert "8: w7" in (tmp_path / name / "index.html").read_text(encoding="utf-8")
    done = call("report", kept, data, "-o", "c", "--frontier", "f", cwd=tmp_path)
    assert done.names("--frontier")
