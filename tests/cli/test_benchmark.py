"""``lrnn benchmark``, as a person would run it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from lrnn.benchmark import peers
from lrnn.cli.benchmark import _rows
from lrnn.cli.tables import OPTIONS, TableOptions
from lrnn.cli.voice import Voice
from lrnn.datasets import load

TINY = ("--quick", "--data", "iris", "--hidden", 2)
SCHEMA = {
    "fit": {"iterations", "unit", "seconds", "error", "lrnn_seconds", "times_faster"},
    "encode": {"rows", "seconds", "rows_per_second", "error", "times_faster"},
    "simulate": {"events", "seconds", "events_per_second", "times_faster"},
    "scale": {
        "rows", "attributes", "iterations", "unit", "seconds", "error", "lrnn_seconds",
        "times_faster",
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    """Neither pauses nor repetitions."""
    for name in ("PAUSE", "PATIENCE"):
        monkeypatch.setattr(f"lrnn.benchmark.measurements.{name}", 0)


@pytest.fixture
def only_sklearn(monkeypatch):
    """As if nothing else were installed, which is also quick."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None)


@pytest.fixture
def cheap_simulation(monkeypatch):
    for name in ("ONE_CORE", "ALL_CORES"):
        monkeypatch.setattr(
            f"lrnn.benchmark.measurements.{name}",
            peers.Simulator(**{**vars(getattr(peers, name)), "budgets": (2_000,)}),
        )


def test_it_compares_with_what_is_installed_and_says_what_is_not(call, tmp_path, only_sklearn):
    done = call("benchmark", *TINY, "-o", "r/s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Quick run on cut-down data")
    assert "fit: iris, 150 rows, 4 → 2 neurons, float32 (QUICK RUN)" in done.stdout
    for title in ("│ lrnn ", "│ NMF (cd) ", "│ NMF (mu) ", "│ MiniBatchNMF "):
        assert title in done.stdout
    assert "torchnmf: not installed: pip install torch torchnmf" in done.stdout
    assert "5/5" in done.stderr  # the progress bar
    folder = tmp_path / "r" / "s"
    assert sorted(p.name for p in folder.iterdir()) == ["fit.png", "fit.svg", "results.json"]
    assert (folder / "fit.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "fit.svg").read_bytes()
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert document["left_out"]["torch, Adam"] == "not installed: pip install torch"
    assert len(document["rows"]) == 5


@pytest.mark.parametrize("kind", SCHEMA)
def test_every_kind_for_programs(call, tmp_path, kind, only_sklearn, cheap_simulation):
    done = call("benchmark", kind, *TINY, "--json", "-o", "r", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "r" / "results.json").read_text(encoding="utf-8"))
    assert document["title"] == "iris, 150 rows, 4 → 2 neurons, float32"
    assert document["kind"] == kind
    assert (document["data"], document["shape"]) == ("iris", [150, 4])
    assert (document["hidden"], document["dtype"], document["quick"]) == (2, "float32", True)
    assert {"processor", "system", "threads"} == set(document["machine"])
    assert {"lrnn", "Python", "numpy", "scikit-learn"} <= set(document["versions"])
    assert document["date"].endswith("+00:00")
    for row in document["rows"]:
        assert set(row) - {"contender", "title", "curve"} == SCHEMA[kind]
        assert row["seconds"] > 0
    assert document["rows"][0]["contender"] == "lrnn"
    assert {f"{kind}.png", f"{kind}.svg"} < {p.name for p in (tmp_path / "r").iterdir()}


def test_the_errors_are_those_of_the_models(call, tmp_path):
    done = call("benchmark", "fit", *TINY, "--against", "nmf-cd", "--json", cwd=tmp_path)
    ours, tuned, nmf = json.loads(done.stdout)["rows"]
    X = load("iris").data.astype(np.float32)
    model = NMF(2, max_iter=5, random_state=0)
    with pytest.warns(match="Maximum number of iterations"):
        codes = model.fit_transform(X)
    product = codes @ model.components_
    assert nmf["error"] == pytest.approx(((X - product) ** 2).mean(), rel=1e-4)
    assert tuned["error"] <= ours["error"] == ours["curve"][-1][1]
    assert ours["seconds"] == ours["curve"][-1][0]


def test_what_goes_wrong_is_said_in_a_line(call, tmp_path, only_sklearn):
    def said(*arguments, status=1):
        done = call("benchmark", *arguments, cwd=tmp_path)
        assert done.returncode == status
        assert "Traceback" not in done.stderr
        return done.said

    assert "fit has no contender 'nmf'; did you mean 'nmf-mu'? Known are nmf-cd, nmf-mu" in said(
        "--against", "nmf"
    )
    assert "adam is not installed: pip install torch" in said("encode", "--against", "adam")
    assert "brian2 is not installed: pip install brian2" in said("simulate", "--against", "brian2")
    assert "there is no data set 'nothing'" in said("--data", "nothing")
    assert "'speed' is not one of" in said("speed", status=2)
    assert "--hidden" in said("--hidden", 0, status=2)
    (tmp_path / "file").write_text("in the way")
    assert "'file' is a file" in said("-o", "file")
    np.save(tmp_path / "raw.npy", load("iris", scaled=False).data)
    assert "choose --scale minmax, max or levels" in said("--data", "raw.npy", "--scale", "none")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "raw.npy"]


def test_files_are_scaled_as_one_says(call, tmp_path):
    np.save(tmp_path / "raw.npy", load("iris", scaled=False).data)
    shared = ("benchmark", "encode", "--quick", "--hidden", 2, "--against", "nmf-cd", "--json")
    done = call(*shared, "--data", "raw.npy", "--scale", "minmax", cwd=tmp_path)
    document = json.loads(done.stdout)
    named = json.loads(call(*shared, "--data", "iris", cwd=tmp_path).stdout)
    assert document["data"] == "raw.npy"
    for row, same in zip(document["rows"], named["rows"], strict=True):
        assert row["error"] == pytest.approx(same["error"], rel=1e-4)
    levels = np.random.default_rng(0).integers(0, 256, (50, 8), dtype=np.uint8)
    np.save(tmp_path / "levels.npy", levels)
    np.save(tmp_path / "floats.npy", levels / 255)
    errors = [
        json.loads(call(*shared, "--data", name, cwd=tmp_path).stdout)["rows"][0]["error"]
        for name in ("levels.npy", "floats.npy")
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-4)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NMF's, of an error of 0
@pytest.mark.parametrize(
    "kind", ["fit", "encode", "simulate", pytest.param("scale", marks=pytest.mark.slow)]
)
def test_sparse_files_stay_sparse(call, tmp_path, monkeypatch, kind, cheap_simulation):
    """Nothing as large as the full matrix arises, but for a block of it."""
    if kind != "simulate":  # of which adam is a contender
        pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    rng = np.random.default_rng(0)
    full = rng.random((60, 40)) * (rng.random((60, 40)) < 0.2)
    sparse.save_npz(tmp_path / "words.npz", sparse.csr_array(full))
    monkeypatch.setattr(peers, "CELLS_AT_ONCE", 400)  # ten rows at a time
    made, toarray = [], sparse.csr_array.toarray
    monkeypatch.setattr(
        sparse.csr_array, "toarray", lambda self, *a, **k: made.append(self.shape) or toarray(self)
    )
    where = ("--data", "words.npz", "--scale", "none", "--hidden", 3, "-o", "found", "--json")
    against = () if kind == "simulate" else ("--against", "nmf-cd", "--against", "adam")
    done = call("benchmark", kind, "--quick", *where, *against, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["shape"] == [60, 40]
    assert (60, 40) not in made
    if kind != "simulate":
        assert {row["contender"] for row in document["rows"]} == {"lrnn", "nmf-cd"}
        assert "data are sparse" in document["left_out"]["torch, Adam"]
    if kind == "fit":
        model = NMF(3, max_iter=5, tol=0, random_state=0)
        codes = model.fit_transform(full.astype(np.float32))
        expected = ((full - codes @ model.components_) ** 2).mean()
        found = next(r for r in document["rows"] if r["contender"] == "nmf-cd")
        assert found["error"] == pytest.approx(expected, rel=1e-3)
        assert "data are sparse" in document["left_out"]["lrnn, fine_tune=3"]


@pytest.mark.parametrize(("options", "neurons"), [((), "13 → 7"), (("--hidden", 3), "13 → 3")])
def test_tables_with_a_class_and_at_most_half_as_many_codes_as_attributes(
    call, tmp_path, only_sklearn, options, neurons
):
    assert call("data", "export", "wine", "wine.csv", cwd=tmp_path).returncode == 0
    table = ("--quick", "--data", "wine.csv", "--label", "label", "--against", "nmf-cd")
    done = call("benchmark", "fit", *table, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"178 rows, {neurons} neurons" in done.stdout


def test_a_table_is_the_data_set_that_it_was_written_from(call, tmp_path):
    options = TableOptions.of({name: default for name, (_, default) in OPTIONS.items()})
    call("data", "export", "wine", "wine.csv", cwd=tmp_path)
    voice = Voice(quiet=True, as_json=False)
    rows = _rows(str(tmp_path / "wine.csv"), replace(options, label="label"), voice)
    np.testing.assert_allclose(rows, _rows("wine", options, voice), atol=1e-6)
    assert rows.dtype == np.float32
