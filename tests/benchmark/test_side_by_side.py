"""benchmarks/side_by_side.py measures what it says; no test looks at how long anything took."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

import peers
import side_by_side
from lrnn import LRNNAutoencoder
from lrnn.datasets import load
from lrnn.training import LearningCurve
from peers import Competitor, Factorisation, FittedModel, mean_squared_error
from side_by_side import (
    LONGEST,
    Step,
    carry_out,
    chosen,
    compare_encoding,
    compare_simulation,
    compare_training,
    errors,
    fastest,
    fit_steps,
    main,
    part,
    part_shapes,
    rows_of,
    simulate_steps,
    times,
    trained,
    trained_network,
)

FOLDER = Path(side_by_side.__file__).parent
TINY = ("--quick", "--data", "iris", "--hidden", "2")
TRAINED = {"iterations", "unit", "seconds", "error", "lrnn_seconds", "times_faster"}
COLUMNS = {
    "fit": TRAINED,
    "encode": {"rows", "seconds", "rows_per_second", "error", "times_faster"},
    "simulate": {"events", "seconds", "events_per_second", "times_faster"},
    "scale": {"rows", "attributes", *TRAINED},
}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    """Neither pauses nor repetitions, but for a test of these."""
    monkeypatch.setattr(side_by_side, "PAUSE", 0)
    monkeypatch.setattr(side_by_side, "PATIENCE", 0)


@pytest.fixture
def only_sklearn(monkeypatch):
    """As if nothing else were installed, which is also quick."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None)


@pytest.fixture
def cheap_simulation(monkeypatch):
    for name in ("ONE_CORE", "ALL_CORES"):
        cheap = replace(getattr(peers, name), budgets=(2_000,))
        monkeypatch.setattr(side_by_side, name, cheap)


@pytest.fixture
def document(tmp_path):
    """What the command writes to the folder of -o."""

    def call(kind, *arguments):
        main([kind, *map(str, arguments), "-o", str(tmp_path / "found")])
        return json.loads((tmp_path / "found" / f"{kind}.json").read_text())

    return call


@pytest.fixture(scope="module", name="X")
def few_digits(digits):
    return digits[::20].astype(np.float32)


def test_the_error_of_lrnn_is_that_of_its_network(X):
    trained = peers.train_lrnn(X, 4, 10)
    model = LRNNAutoencoder(4, max_iter=10, random_state=0).fit(X)
    (W,), (V,) = model.encoders_, model.decoders_
    output = np.minimum(np.minimum(X @ W, 1) @ V, 1)
    assert trained.error(X) == pytest.approx(((X - output).astype(float) ** 2).mean(), rel=1e-4)
    assert trained.iterations == model.n_iter_


def test_the_error_of_nmf_is_that_of_its_factors(X):
    trained = peers.train_nmf_cd(X, 4, 7)
    model = NMF(4, max_iter=7, random_state=0)
    with pytest.warns(match="Maximum number of iterations"):
        codes = model.fit_transform(X)
    assert trained.error(X) == pytest.approx(
        ((X - codes @ model.components_) ** 2).mean(), rel=1e-4
    )
    assert trained.iterations == 7


@pytest.mark.filterwarnings("ignore")  # what others' libraries deprecate is not ours to mend
@pytest.mark.parametrize("contender", peers.FACTORISATIONS, ids=lambda c: c.name)
def test_every_peer_trains_encodes_and_decodes(X, contender):
    if contender.missing:
        pytest.skip(contender.missing)
    few, more = (contender.train(X, 4, budget) for budget in contender.budgets[:2])
    codes = more.encode(X[:5])
    assert codes.shape == (5, 4)
    assert (codes >= 0).all()
    assert more.decode(codes).shape == (5, 64)
    assert more.error(X) < few.error(X) < 0.3
    assert mean_squared_error(X, more.decode(more.encode(X))) < few.error(X)


@pytest.mark.parametrize("hidden", [1, 100])
def test_peers_take_codes_of_any_width(X, hidden):
    for contender in peers.FACTORISATIONS[:3]:
        assert contender.train(X, hidden, 2).encode(X).shape == (len(X), hidden)


def test_time_that_a_learning_curve_leaves_out_counts_from_the_beginning():
    def stage(*seconds):
        steps = np.arange(len(seconds))
        return LearningCurve(
            None, np.array([]), steps, 1 / (1 + steps), np.array(seconds), 1, "tol"
        )

    points = peers.learning_curve([stage(0.0, 1.0, 2.0), stage(0.0, 3.0)], 10.0)
    assert points == ((5.0, 1.0), (6.0, 0.5), (7.0, 1 / 3), (7.0, 1.0), (10.0, 0.5))


def test_peers_are_compared_with_when_lrnn_was_as_low():
    ours = {"contender": "lrnn", "seconds": 4.0, "curve": [[1.0, 0.3], [2.0, 0.2], [4.0, 0.1]]}
    high, low = ({"contender": "nmf-cd", "seconds": 8.0, "error": e} for e in (0.2, 0.05))
    rows = compare_training([ours, high, low])
    assert [row["lrnn_seconds"] for row in rows] == [None, 2.0, None]
    assert [row["times_faster"] for row in rows] == [None, 4.0, None]


def test_speeds_are_compared_at_the_same_size():
    rows = [
        {"contender": name, "rows": count, "seconds": seconds}
        for name, times in (("lrnn", (1.0, 2.0)), ("adam", (3.0, 8.0)))
        for count, seconds in zip((10, 20), times, strict=True)
    ]
    assert [r["times_faster"] for r in compare_encoding(rows)] == [None, None, 3, 4]
    rows = [
        {"contender": name, "events": events, "events_per_second": speed}
        for name, events, speed in (("lrnn", 10, 5.0), ("lrnn", 100, 6.0), ("ciw", 3, 2.0))
    ]
    assert [r["times_faster"] for r in compare_simulation(rows)] == [None, None, 3]


def test_the_fastest_run_counts(monkeypatch):
    monkeypatch.setattr(side_by_side, "PATIENCE", 1)
    runs = iter([(10, 0.5), (10, 0.2), (30, 0.4), (10, 9.0), (10, 0.01)])
    assert fastest(lambda: next(runs)) == (30, 0.4)


def test_the_fastest_training_counts(monkeypatch):
    monkeypatch.setattr(side_by_side, "PATIENCE", 1)
    took = iter([0.5, 0.2, 0.4, 9.0])
    contender = replace(
        peers.LRNN, train=lambda X, hidden, budget: peers.FittedModel(next(took), budget, abs, abs)
    )
    assert trained(contender, np.ones((2, 2)), 1, 7).seconds == 0.2
    assert next(took) == 9.0  # 1.1 seconds were enough


def test_a_peer_that_fails_is_left_out_and_lrnn_may_not(capsys):
    def fail():
        raise RuntimeError("no such thing")

    peer, other = Competitor("peer", "Peer", ()), Competitor("other", "Other", ())
    steps = [Step(peer, "1", fail), Step(peer, "2", fail), Step(other, "", lambda: [{"error": 1}])]
    rows, failed = carry_out(steps)
    assert rows == [{"contender": "other", "title": "Other", "error": 1}]
    assert failed == {"Peer": "failed: RuntimeError: no such thing"}
    assert capsys.readouterr().err.splitlines() == ["1 of 3: Peer, 1", "3 of 3: Other"]
    with pytest.raises(RuntimeError, match="no such thing"):
        carry_out([Step(peers.LRNN, "", fail)])


def test_budgets_grow_as_long_as_the_next_is_no_longer_than_two_minutes(X):
    trained = []

    def train(X, hidden, iterations):
        trained.append(iterations)
        return FittedModel(LONGEST / 100 * iterations, iterations, lambda r: r, lambda c: c)

    slow = Factorisation("slow", "slow", (), train, "iterations", (10, 40, 100, 160))
    steps = [step for step in fit_steps(X, 3, [slow], False) if step.contender is slow]
    rows, _ = carry_out(steps)
    assert [row["iterations"] for row in rows] == [10, 40, 100]
    assert trained == [1, 10, 40, 100]  # 1 to warm up
    assert [row["error"] for row in rows] == [0, 0, 0]


def test_parts_are_spread_over_the_data():
    X = np.arange(50, dtype=np.float32).reshape(10, 5)
    np.testing.assert_array_equal(part(X, (2, 3)), [[0, 2, 4], [45, 47, 49]])
    np.testing.assert_array_equal(part(X, (10, 5)), X)
    assert part_shapes(1000, 60, 15, 3) == [
        (31, 60), (177, 60), (1000, 30), (1000, 42), (1000, 60)
    ]  # fmt: skip
    assert part_shapes(1000, 10, 9, 4)[-1] == (1000, 10)
    assert {attributes for _, attributes in part_shapes(1000, 10, 9, 4)} == {10}
    assert min(rows for rows, _ in part_shapes(1000, 64, 100, 4)) == 100


def test_events_in_a_unit_of_time_are_those_of_the_simulation(X):
    network, arrivals = trained_network(np.vstack([np.zeros_like(X[:1]), X]), 4)
    assert arrivals.any()  # not those of the first row, which is 0
    result = network.simulate(arrivals, events=200_000, start="stationary", random_state=0)
    expected = peers.events_per_time(network, arrivals)
    assert result.events / result.time == pytest.approx(expected, rel=0.05)
    with pytest.raises(ValueError, match="all rows are 0"):
        trained_network(np.zeros_like(X), 4)


@pytest.mark.filterwarnings("ignore")
def test_simulators_make_about_the_events_that_are_asked_for(X):
    network, arrivals = trained_network(X, 4)
    assert peers.simulate_on_one_core(network, arrivals, 2_000)[0] == 2_000
    assert peers.simulate_on_all_cores(network, arrivals, 2_000)[0] % 2_000 == 0
    for peer in peers.SIMULATORS:
        if peer.missing is None:
            events, _ = peer.run(network, arrivals, 1_000)
            assert 600 < events < 1_200  # all neurons are at rest in the beginning
    assert len(simulate_steps(X, 4, peers.SIMULATORS, False)) == 12


def test_contenders_are_found_by_name(only_sklearn):
    named, missing = chosen("fit", ["nmf-mu", "nmf-mu", "ciw"])
    assert [peer.title for peer in named] == ["NMF (mu)"]
    assert missing == {}
    assert [peer.name for peer in chosen("scale", None)[0]] == ["nmf-cd"]
    assert [peer.name for peer in chosen("scale", ["nmf-mu"])[0]] == ["nmf-mu"]
    with pytest.raises(ValueError, match="simulate has no contender adam; it has ciw, brian2"):
        chosen("simulate", ["adam"])
    installed, missing = chosen("fit", None)
    assert [peer.name for peer in installed] == ["nmf-cd", "nmf-mu", "minibatch-nmf"]
    assert missing["torchnmf"] == "not installed: pip install torch torchnmf"


def test_looking_for_contenders_imports_none_of_them():
    code = "import sys; from side_by_side import chosen; chosen('fit', None)"
    heavy = "print(*sorted({'torch', 'torchnmf', 'ciw', 'brian2'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {heavy}"],
        cwd=FOLDER, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == []


def test_figures_have_all_points():
    ours = {"title": "lrnn", "rows": 20, "attributes": 4, "seconds": 2.0, "error": 0.1,
            "curve": [[1.0, 0.3], [2.0, 0.1]], "lrnn_seconds": None}  # fmt: skip
    peer = {**ours, "title": "NMF", "seconds": 9.0, "error": 0.2, "lrnn_seconds": 1.5}
    del peer["curve"]
    rows = [ours, {**ours, "rows": 10, "seconds": 1.0}, {**ours, "attributes": 2}, peer]
    assert errors([ours, peer]) == {"lrnn": [(1.0, 0.3), (2.0, 0.1)], "NMF": [(9.0, 0.2)]}
    assert times(rows, "rows") == {
        "lrnn": [(20, 2.0), (10, 1.0)],
        "NMF": [(20, 9.0)],
        "lrnn, to the error of NMF": [(20, 1.5)],
    }
    assert times(rows, "attributes")["lrnn"] == [(4, 2.0), (2, 2.0)]


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_writes_its_results_and_figures(
    document, tmp_path, capsys, kind, only_sklearn, cheap_simulation
):
    found = document(kind, *TINY)
    assert found["title"] == "iris, 150 rows, 4 → 2 neurons, float32 (QUICK RUN)"
    assert {"processor", "system", "threads"} == set(found["machine"])
    assert {"lrnn", "Python", "numpy", "scikit-learn"} <= set(found["versions"])
    for row in found["results"]:
        assert set(row) - {"contender", "title", "curve"} == COLUMNS[kind]
        assert row["seconds"] > 0
    assert found["results"][0]["contender"] == "lrnn"
    folder = tmp_path / "found"
    assert sorted(p.name for p in folder.iterdir()) == [
        f"{kind}.{s}" for s in ("json", "png", "svg")
    ]
    assert (folder / f"{kind}.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert f"{kind}: {found['title']}" in printed
    absent = {"simulate": "Ciw: not installed", "scale": "NMF (cd)"}
    assert absent.get(kind, "torchnmf: not installed: pip install torch torchnmf") in printed


def test_the_errors_are_those_of_the_models(document):
    ours, tuned, nmf = document("fit", *TINY, "--against", "nmf-cd")["results"]
    X = load("iris").data.astype(np.float32)
    model = NMF(2, max_iter=5, random_state=0)
    with pytest.warns(match="Maximum number of iterations"):
        codes = model.fit_transform(X)
    product = codes @ model.components_
    assert nmf["error"] == pytest.approx(((X - product) ** 2).mean(), rel=1e-4)
    assert tuned["error"] <= ours["error"] == ours["curve"][-1][1]
    assert ours["seconds"] == ours["curve"][-1][0]


def test_results_of_the_docs_need_all_contenders(monkeypatch, only_sklearn):
    monkeypatch.setattr(side_by_side, "measured", lambda *_: pytest.fail("it was measured"))
    with pytest.raises(SystemExit, match=r"fit: torchnmf is not installed: .*; or -o FOLDER"):
        main(["fit"])
    with pytest.raises(SystemExit, match=r"torch, Adam is not installed: pip install torch$"):
        main(["encode", "--data", "iris", "--against", "adam"])


def test_they_are_those_that_the_docs_show(monkeypatch):
    monkeypatch.setattr(side_by_side, "chosen", lambda kind, names: ([], {}))
    monkeypatch.setattr(side_by_side, "measured", lambda *_: ([{"curve": [], "seconds": 1}], {}))
    reported = []
    monkeypatch.setattr(side_by_side, "report", lambda *what: reported.append(what))
    main(["fit"])
    stored = json.loads((FOLDER / "results" / "side_by_side_fit.json").read_text())
    assert reported == [("side_by_side_fit", stored["title"], [{"seconds": 1}])]


def test_with_options_nothing_is_stored(monkeypatch, only_sklearn):
    for name in ("report", "write"):
        monkeypatch.setattr(side_by_side, name, lambda *_: pytest.fail("it was written"))
    main(["encode", *TINY, "--against", "nmf-cd"])


@pytest.fixture
def wine(tmp_path):
    """A table of the data set, with its classes."""
    found = load("wine", scaled=False)
    table = pd.DataFrame(found.data, columns=[f"attribute {i}" for i in range(13)])
    table["label"] = [f"class {number}" for number in found.target]
    table.to_csv(tmp_path / "wine.csv", index=False)
    return tmp_path / "wine.csv"


@pytest.mark.parametrize(("options", "neurons"), [((), "13 → 7"), (("--hidden", 3), "13 → 3")])
def test_tables_with_a_class_and_at_most_half_as_many_codes_as_attributes(
    document, wine, only_sklearn, options, neurons
):
    table = ("--quick", "--data", wine, "--label", "label", "--against", "nmf-cd")
    title = document("fit", *table, *options)["title"]
    assert title.startswith(f"wine.csv, 178 rows, {neurons} neurons")


def test_a_table_is_the_data_set_that_it_was_written_from(wine):
    rows = rows_of(str(wine), label="label")
    np.testing.assert_allclose(rows, rows_of("wine"), atol=1e-6)
    assert rows.dtype == np.float32
    with pytest.raises(ValueError, match="label"):
        rows_of(str(wine))


def test_files_are_scaled_as_one_says(tmp_path):
    raw = load("iris", scaled=False).data
    np.save(tmp_path / "raw.npy", raw)
    rows = rows_of(str(tmp_path / "raw.npy"), kind="minmax")
    np.testing.assert_allclose(rows, rows_of("iris"), atol=1e-6)
    np.testing.assert_allclose(rows_of("iris", kind="max"), raw / raw.max(axis=0), rtol=1e-6)


@pytest.mark.parametrize(("highest", "white"), [(255, 255), (1, 1)])
def test_levels_are_divided_by_white(tmp_path, rng, highest, white):
    levels = rng.integers(0, highest, (50, 8), dtype=np.uint8, endpoint=True)
    np.save(tmp_path / "levels.npy", levels)
    np.testing.assert_allclose(rows_of(str(tmp_path / "levels.npy")), levels / white, rtol=1e-6)


def test_files_that_are_read_block_by_block_are_read_whole(tmp_path, rng):
    zarr = pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    X = 9 * rng.random((30, 4))
    zarr.save_array(str(tmp_path / "x.zarr"), X)
    expected = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    np.testing.assert_allclose(rows_of(str(tmp_path / "x.zarr")), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NMF's, of an error of 0
@pytest.mark.parametrize(
    "kind", ["fit", "encode", "simulate", pytest.param("scale", marks=pytest.mark.slow)]
)
def test_sparse_files_stay_sparse(document, tmp_path, monkeypatch, capsys, kind, cheap_simulation):
    """Nothing as large as the full matrix arises, but for a block of it."""
    if kind != "simulate":  # adam is a contender of the others
        pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    rng = np.random.default_rng(0)
    full = rng.random((60, 40)) * (rng.random((60, 40)) < 0.05)
    sparse.save_npz(tmp_path / "words.npz", sparse.csr_array(full))
    monkeypatch.setattr(peers, "CELLS_AT_ONCE", 400)  # ten rows at a time
    made, toarray = [], sparse.csr_array.toarray
    monkeypatch.setattr(
        sparse.csr_array, "toarray", lambda self, *a, **k: made.append(self.shape) or toarray(self)
    )
    where = ("--data", tmp_path / "words.npz", "--scale", "none", "--hidden", 3)
    against = () if kind == "simulate" else ("--against", "nmf-cd", "--against", "adam")
    found = document(kind, "--quick", *where, *against)
    printed = capsys.readouterr().out
    assert found["title"].startswith("words.npz, 60 rows, 40 → 3 neurons")
    assert (60, 40) not in made
    if kind != "simulate":
        assert {row["contender"] for row in found["results"]} == {"lrnn", "nmf-cd"}
        assert "torch, Adam: needs full matrices, and the data are sparse" in printed
    if kind == "fit":
        model = NMF(3, max_iter=5, tol=0, random_state=0)
        codes = model.fit_transform(full.astype(np.float32))
        expected = ((full - codes @ model.components_) ** 2).mean()
        error = next(r for r in found["results"] if r["contender"] == "nmf-cd")["error"]
        assert error == pytest.approx(expected, rel=1e-3)
        assert "lrnn, fine_tune=3: needs full matrices" in printed
