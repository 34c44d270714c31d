"""``lrnn classify``, run as a person would run it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.utils import Bunch

from lrnn import LRNNAutoencoder, LRNNClassifier, Scaling
from naming import naming

pytestmark = pytest.mark.usefixtures("unrendered")

PRICED = {"spike_penalty": 0.1, "label_smoothing": 0.1, "random_state": 0}
TELLS = pytest.mark.filterwarnings("default")  # errors, otherwise
KINDS = np.array(["red", "white", "rosé"])


@pytest.fixture(scope="module")
def wine():
    found = load_wine(as_frame=True)
    frame = found.frame.drop(columns="target")
    frame.insert(0, "id", [f"w{i}" for i in range(len(frame))])
    return frame.assign(kind=KINDS[found.target])


@pytest.fixture(scope="module")
def folder(wine, tmp_path_factory):
    """Wine with a model that knows its columns; digits with one that knows nothing."""
    folder = tmp_path_factory.mktemp("classify")
    wine.to_csv(folder / "wine.csv", index=False)
    how = Scaling.fit(wine, "minmax", label="kind", index="id")
    LRNNClassifier(20, scale=how, **PRICED).fit(wine, wine.kind).save(folder / "wine.safetensors")
    X, y = load_digits(return_X_y=True)
    X = X / 16
    LRNNClassifier(20, **PRICED).fit(X[:1000], y[:1000]).save(folder / "digits.safetensors")
    free = LRNNClassifier(20, random_state=0).fit(X[:1000], y[:1000])
    free.save(folder / "free.safetensors")
    LRNNAutoencoder(3, max_iter=5).fit(X).save(folder / "auto.safetensors")
    np.save(folder / "digits.npy", X[1000:1060])
    names = [f"pixel{i}" for i in range(64)]
    table = pd.DataFrame(X[1000:1060], columns=names).assign(which=y[1000:1060])
    table.to_csv(folder / "digits.csv", index=False)
    return folder


def model_of(folder, name):
    from lrnn import load

    return load(folder / f"{name}.safetensors")


def test_another_label_leaves_rows_their_names(call, folder, wine, tmp_path):
    wine.rename(columns={"kind": "taste"}).to_csv(tmp_path / "w.csv", index=False)
    how = ("classify", "wine.safetensors", tmp_path / "w.csv", "--label", "taste")
    done = call(*how, "-o", tmp_path / "out.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found["id"]) == list(wine["id"])
    assert list(found["taste"]) == list(wine["kind"])


def test_classes_and_probabilities_in_the_names_of_the_rows(call, folder, wine, tmp_path):
    output = tmp_path / "out.csv"
    done = call("classify", "wine.safetensors", "wine.csv", "-o", output, cwd=folder)
    assert done.returncode == 0, done.stderr
    found, model = pd.read_csv(output), model_of(folder, "wine")
    assert list(found.columns) == [
        "id", "predicted", "probability",
        *(f"probability of {name}" for name in ("red", "rosé", "white")), "kind",
    ]  # fmt: skip
    assert (found.id == wine.id).all()
    assert (found.kind == wine.kind).all()
    assert (found.predicted == model.predict(wine)).all()
    shares = found.filter(like="probability of").to_numpy()
    np.testing.assert_allclose(shares, model.predict_proba(wine), rtol=1e-12)
    np.testing.assert_array_equal(found.probability, shares.max(axis=1))
    right = int((found.predicted == wine.kind).sum())
    assert done.shows(f"{right / 178:.4f}", right, 178, *KINDS)


def test_confusions_add_up(call, folder, wine, tmp_path):
    done = call(
        "classify", "wine.safetensors", "wine.csv", "-o", tmp_path / "o.csv", "--json", cwd=folder
    )
    document = json.loads(done.stdout)
    model = model_of(folder, "wine")
    found = np.array(document["confusion"])
    for i, true in enumerate(model.classes_):
        for j, told in enumerate(model.classes_):
            both = (wine.kind == true).to_numpy() & (model.predict(wine) == told)
            assert found[i, j] == both.sum()
    assert document["accuracy"] == pytest.approx(np.trace(found) / 178)
    assert document["classes"] == ["red", "rosé", "white"]


def test_without_labels_there_is_no_accuracy(call, folder, tmp_path):
    done = call(
        "classify", "digits.safetensors", "digits.npy", "-o", tmp_path / "o.tsv", "--json",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "accuracy" not in json.loads(done.stdout)
    found = pd.read_csv(tmp_path / "o.tsv", sep="\t")
    assert found.columns[0] == "row"
    np.testing.assert_array_equal(found.row, np.arange(1, 61))
    model = model_of(folder, "digits")
    np.testing.assert_array_equal(found.predicted, model.predict(np.load(folder / "digits.npy")))


def test_a_column_of_labels_may_be_named(call, folder, tmp_path):
    """To a model that knows nothing of columns."""
    arguments = ("classify", "digits.safetensors", "digits.csv", "-o", tmp_path / "o.csv")
    done = call(*arguments, "--label", "which", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    y = load_digits().target[1000:1060]
    expected = model_of(folder, "digits").score(np.load(folder / "digits.npy"), y)
    assert json.loads(done.stdout)["accuracy"] == pytest.approx(expected)
    by_number = call(*arguments, "--label", "65", "--json", "--force", cwd=folder)
    assert by_number.stdout == done.stdout
    assert call(*arguments, "--force", cwd=folder).names("digits.csv", 65, 64)


@TELLS
def test_labels_that_the_model_does_not_know_are_wrong_and_named(call, folder, wine, tmp_path):
    strange = wine.copy()
    strange.loc[[3, 5], "kind"] = "green"
    strange.to_csv(tmp_path / "s.csv", index=False)
    arguments = ("classify", folder / "wine.safetensors", "s.csv", "--json", "--force")
    done = call(*arguments, cwd=tmp_path)
    assert done.names("s.csv", 2, 178, "green", "row 4")
    document, model = json.loads(done.stdout), model_of(folder, "wine")
    assert document["accuracy"] == pytest.approx(np.mean(model.predict(wine) == strange.kind))
    assert sum(document["confusion"][3]) == 2
    strange.assign(kind="green").to_csv(tmp_path / "s.csv", index=False)
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.names("s.csv", "green", "row 1", *KINDS, "--label")


@TELLS
def test_rows_without_a_label_are_neither_right_nor_wrong(call, folder, wine, tmp_path):
    """As fit --test and report have it; unknown labels beside them are wrong."""
    some = wine.copy()
    some.loc[[2, 70, 170], "kind"] = None
    some.loc[[3, 5], "kind"] = "green"
    some.to_csv(tmp_path / "s.csv", index=False)
    done = call(
        "classify", folder / "wine.safetensors", "s.csv", "--json", "--events", "1e5",
        "--plot", "p.png", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.names("s.csv", 3, 178, "71, 171")
    assert done.names("s.csv", 2, 175, "green", "row 4")
    document, model = json.loads(done.stdout), model_of(folder, "wine")
    known = some.kind.notna().to_numpy()
    right = (model.predict(wine) == some.kind)[known]
    assert document["accuracy"] == pytest.approx(right.mean())
    assert document["rows_without_label"] == 3
    assert np.sum(document["confusion"]) == 175
    assert sum(document["confusion"][3]) == 2
    found = pd.read_csv(tmp_path / "s-classes.csv")
    assert len(found) == 178
    told = (found.decision == some.kind)[known]
    assert document["decisions"]["accuracy"] == pytest.approx(told.mean())
    sure = (found.decided == "yes")[known]
    assert document["decisions"]["accuracy_of_decided"] == pytest.approx(told[sure].mean())
    assert document["curve"][-1][1] <= 173 / 175
    assert document["curve"][-1][1] * 175 == pytest.approx(round(document["curve"][-1][1] * 175))


@TELLS
def test_a_column_without_any_label_tells_nothing(call, folder, wine, tmp_path):
    wine.assign(kind=None).to_csv(tmp_path / "s.csv", index=False)
    done = call("classify", folder / "wine.safetensors", "s.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.names("s.csv", "label")
    assert "accuracy" not in json.loads(done.stdout)


@TELLS
def test_numbers_for_labels_may_lack(call, folder, tmp_path):
    """Which makes them fractions, and a missing one no text."""
    table = pd.read_csv(folder / "digits.csv").astype({"which": float})
    table.loc[4, "which"] = np.nan
    table.to_csv(tmp_path / "d.csv", index=False)
    arguments = ("classify", folder / "digits.safetensors", "d.csv", "--label", "which", "--json")
    document = json.loads(call(*arguments, cwd=tmp_path).stdout)
    rows, y = np.delete(np.load(folder / "digits.npy"), 4, 0), table.which.dropna()
    assert document["accuracy"] == pytest.approx(model_of(folder, "digits").score(rows, y))
    assert document["rows_without_label"] == 1


@TELLS
def test_rows_left_out_keep_their_numbers(call, wine, tmp_path):
    frame = wine.drop(columns="id")
    how = Scaling.fit(frame, "minmax", label="kind", missing="drop")
    model = LRNNClassifier(5, scale=how, max_iter=5, random_state=0).fit(frame, frame.kind)
    model.save(tmp_path / "m.safetensors")
    frame.loc[1, "ash"] = np.nan
    frame.to_csv(tmp_path / "w.csv", index=False)
    done = call("classify", "m.safetensors", "w.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "w-classes.csv")
    np.testing.assert_array_equal(found.row[:3], [1, 3, 4])
    assert (found.kind == np.delete(wine.kind.to_numpy(), 1)).all()


@TELLS
def test_spike_by_spike(call, folder, wine, tmp_path):
    done = call(
        "classify", "wine.safetensors", "wine.csv", "-o", tmp_path / "o.csv", "--events", "1e5",
        "--start", "stationary", "--plot", tmp_path / "p.png", "--seed", 3, "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document, found = json.loads(done.stdout), pd.read_csv(tmp_path / "o.csv")
    model = model_of(folder, "wine")
    with pytest.warns(UserWarning, match=naming(178, "100,000")):
        same = model.decide(wine, events=1e5, start="stationary", random_state=3, progress=False)
    assert (found.decision == same.labels).all()
    np.testing.assert_array_equal(found.decided == "yes", same.decided)
    np.testing.assert_array_equal(found["output spikes"], same.spikes)
    np.testing.assert_array_equal(found.events, same.events.round())
    told = document["decisions"]
    assert told["decided"] == same.decided.sum() > 150
    assert told["median_events"] == np.median(same.events[same.decided])
    assert told["median_output_spikes"] == np.median(same.spikes[same.decided])
    assert told["median_expected_events"] == np.median(same.expected_events[same.decided])
    assert told["agreement"] == same.agreement
    assert told["accuracy"] == same.score(wine.kind)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    events, accuracies = zip(*document["curve"], strict=True)
    assert events[-1] == 100_000
    assert accuracies[-1] > 0.9 > accuracies[0]
    assert done.names(len(wine) - told["decided"], 178, "100,000")


@TELLS
def test_classes_that_fire_alike_need_not_be_told_apart(call, folder, wine, tmp_path):
    done = call(
        "classify", "wine.safetensors", "wine.csv", "-o", tmp_path / "o.csv", "--ratio", 2,
        "--start", "stationary", "--json", cwd=folder,
    )  # fmt: skip
    told = json.loads(done.stdout)["decisions"]
    assert told["lead"] == 6  # 2⁶ is above 2 / 0.05
    assert told["decided"] == 178
    assert told["agreement"] > 0.95


@TELLS
def test_a_row_without_spikes_has_no_decision(call, folder, tmp_path):
    rows = np.vstack([np.load(folder / "digits.npy")[:3], np.zeros(64)])
    np.save(tmp_path / "x.npy", rows)
    arguments = (
        "classify",
        folder / "digits.safetensors",
        "x.npy",
        "--ratio",
        2,
        "--events",
        "1e7",
    )
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.names(1, 4, "25.0 %", "10,000,000")
    found = pd.read_csv(tmp_path / "x-classes.csv")
    assert found.decision.isna().tolist() == [False, False, False, True]
    assert found.decided.tolist() == ["yes", "yes", "yes", "no"]
    assert found["output spikes"][3] == 0


@TELLS
def test_what_decisions_took_is_that_of_those_that_were_made(call, folder, tmp_path):
    """Though most rows go on to the limit."""
    line = ("classify", "digits.safetensors", "digits.npy", "--events", "2e4", "--force")
    done = call(*line, "-o", tmp_path / "o.csv", "--json", cwd=folder)
    told, found = json.loads(done.stdout)["decisions"], pd.read_csv(tmp_path / "o.csv")
    made = found[found.decided == "yes"]
    assert 0 < told["decided"] == len(made) < 30
    assert told["median_events"] == pytest.approx(made.events.median(), abs=1)
    assert told["median_events"] < 20_000
    done = call(*line, "-o", tmp_path / "o.csv", cwd=folder)
    assert done.shows(f"{told['median_events']:,.0f}", told["decided"])


@TELLS
def test_where_no_row_can_decide_classes_and_plot_are_written_all_the_same(call, folder, tmp_path):
    line = ("classify", "free.safetensors", "digits.csv", "--label", "which", "--events", "1e4")
    done = call(*line, "-o", tmp_path / "o.csv", "--plot", tmp_path / "p.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.names("--events", "--spike-penalty", 0.1)
    assert (tmp_path / "p.png").exists()
    found = pd.read_csv(tmp_path / "o.csv")
    told = model_of(folder, "free").predict(np.load(folder / "digits.npy"))
    np.testing.assert_array_equal(found.predicted, told)
    assert found[["decision", "events", "output spikes"]].isna().all(axis=None)
    assert (found.decided == "no").all()
    for ending in ("tsv", "parquet"):
        other = call(*line, "-o", tmp_path / f"o.{ending}", "--json", cwd=folder)
        assert other.returncode == 0, other.stderr
        assert json.loads(other.stdout)["decisions"] is None


@pytest.fixture
def in_parts(tmp_path, monkeypatch):
    """A folder with a model of digits; data sets are such, 60 to train on and 20 to test with."""
    X, y = load_digits(return_X_y=True)
    X = X[:, :35]  # as many as soybean has
    model = LRNNClassifier(5, max_iter=2, random_state=0, scale="levels").fit(X, y)
    model.save(tmp_path / "m.safetensors")
    parts = {"train": slice(60), "test": slice(60, 80), "all": slice(80)}

    def load(name, *, split, scaled):
        part = parts[split]
        return Bunch(data=X[part], target=y[part], target_names=np.arange(10).astype(str))

    monkeypatch.setattr("lrnn.datasets.open.load", load)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "split", "rows"), [("mnist", None, 60), ("mnist", "test", 20), ("cifar10", None, 80)]
)
def test_parts_of_a_data_set(call, in_parts, name, split, rows):
    """It is said which is classified, and that another may be named."""
    arguments = ("m.safetensors", name, *(("--split", split) if split else ()))
    done = call("classify", *arguments, cwd=in_parts)
    assert done.returncode == 0, done.stderr
    assert done.shows(rows, name)
    assert done.shows("--split test") == (split is None)


@pytest.mark.parametrize(("split", "rows"), [("train", 60), ("test", 20)])
def test_parts_of_a_data_set_in_a_report(call, in_parts, split, rows):
    given = () if split == "train" else ("--split", split)
    done = call("report", "m.safetensors", "soybean", *given, "-o", "page", cwd=in_parts)
    assert done.returncode == 0, done.stderr
    assert done.shows(rows, "soybean")
    assert done.shows("--split test") == (split == "train")
    page = (in_parts / "page" / "index.html").read_text(encoding="utf-8")
    assert re.search(naming("soybean", split), re.search("<h1>(.*)</h1>", page)[1])
    assert re.search(naming(f"{rows} rows", 35), page)
    for command in ("classify", "report"):
        done = call(command, "m.safetensors", "m.csv", "--split", "test", cwd=in_parts)
        assert (done.returncode, done.names("m.csv", "--split")) == (2, True)


@TELLS
def test_a_person_is_shown_what_decisions_took(call, folder, tmp_path):
    line = ("classify", folder / "wine.safetensors", folder / "wine.csv", "--confidence", 0.8)
    told = json.loads(call(*line, "--json", cwd=tmp_path).stdout)["decisions"]
    done = call(*line, "--force", cwd=tmp_path)
    assert done.shows(told["decided"], 178, f"{told['accuracy']:.4f}", "20 %")
    assert done.shows(f"{told['median_events']:,.0f}", f"{told['median_expected_events']:,.0f}")
    assert done.shows(f"{told['median_output_spikes']:.0f}", f"{100 * told['agreement']:.1f} %")
    assert "too few" not in done.stdout


def test_few_decisions_do_not_tell_how_sure_they_are(call, folder, tmp_path):
    """A share of few rows is no measurement of what theory promises of all."""
    pd.read_csv(folder / "wine.csv").head(20).to_csv(tmp_path / "few.csv", index=False)
    line = ("classify", folder / "wine.safetensors", "few.csv", "--start", "stationary", "--force")
    done = call(*line, "--confidence", 0.9, "--ratio", 1.5, cwd=tmp_path)
    assert "too few" in done.stdout
    assert done.shows("90 %", 29, 1.5)
    done = call(*line, "--confidence", 0.8, cwd=tmp_path)
    assert "too few" not in done.stdout  # 14 rows tell 80 %


@pytest.mark.parametrize(
    ("line", "status", "named"),
    [
        ("auto.safetensors digits.npy", 1, "auto.safetensors --classify --label"),
        ("digits.npy digits.safetensors", 1, "digits.safetensors MODEL DATA"),
        ("digits.safetensors digits.npy --events 0.5", 2, "--events 0.5"),
        ("digits.safetensors digits.npy --confidence 95", 2, "--confidence 95.0 0 1"),
        ("digits.safetensors digits.npy --ratio 1", 2, "--ratio 1.0"),
        ("digits.safetensors digits.npy --label which", 2, "--label digits.npy"),
        ("digits.safetensors digits.csv --label what", 2, "--label digits.csv what which"),
        ("digits.safetensors digits.npy --plot a.png", 2, "--plot --events"),
        ("digits.safetensors digits.npy --start stationary", 2, "--start --events"),
        ("digits.safetensors digits.npy --seed 0", 2, "--seed --events"),
        ("digits.safetensors digits.npy --split test", 2, "--split digits.npy"),
        ("digits.safetensors digits --split test", 1, "digits test all"),
        ("digits.safetensors digits.npy --events 1e4 --plot a.gif", 2, "--plot .png"),
        ("digits.safetensors digits.npy --events 1e4 --plot a.png", 1, "digits.npy --plot --label"),
        ("digits.safetensors digits.npy -o a.npy", 2, "--output .csv"),
    ],
)
def test_errors_are_one_line_with_the_remedy_and_nothing_is_written(
    call, folder, tmp_path, line, status, named
):
    before = sorted(folder.iterdir())
    done = call("classify", *line.split(), cwd=folder)
    assert done.returncode == status
    assert done.names(*named.split())
    assert sorted(folder.iterdir()) == before


def test_many_classes_show_the_most_frequent_errors(call, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 6)), np.arange(300) % 25
    model = LRNNClassifier(5, max_iter=2, random_state=0).fit(X, y)
    model.save(tmp_path / "m.safetensors")
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=y.astype(float))
    table.to_csv(tmp_path / "t.csv", index=False)
    done = call("classify", "m.safetensors", "t.csv", "--label", "y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.shows(f"{model.score(X, y):.4f}")  # 3.0 is the class 3
    wrong = pd.crosstab(y, model.predict(X)).stack()
    assert done.shows(max(n for (true, told), n in wrong.items() if true != told))
