"""Measurements are of what they say they are; no test looks at how long anything took."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import NMF

from lrnn import LRNNAutoencoder, plots
from lrnn.benchmark import chosen, peers, result
from lrnn.benchmark.measurements import (
    LONGEST,
    Step,
    carry_out,
    fastest,
    fit_steps,
    part,
    part_shapes,
    simulate_steps,
    trained,
    trained_network,
)
from lrnn.benchmark.peers import Competitor, Factorisation, FittedModel, mean_squared_error
from lrnn.training import LearningCurve


@pytest.fixture(scope="module", name="X")
def few_digits(digits):
    return digits[::20].astype(np.float32)


def quiet(done, total, task):
    pass


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
    rows = result.compare_training([ours, high, low])
    assert [row["lrnn_seconds"] for row in rows] == [None, 2.0, None]
    assert [row["times_faster"] for row in rows] == [None, 4.0, None]


def test_speeds_are_compared_at_the_same_size():
    rows = [
        {"contender": name, "rows": count, "seconds": seconds}
        for name, times in (("lrnn", (1.0, 2.0)), ("adam", (3.0, 8.0)))
        for count, seconds in zip((10, 20), times, strict=True)
    ]
    assert [r["times_faster"] for r in result.compare_encoding(rows)] == [None, None, 3, 4]
    rows = [
        {"contender": name, "events": events, "events_per_second": speed}
        for name, events, speed in (("lrnn", 10, 5.0), ("lrnn", 100, 6.0), ("ciw", 3, 2.0))
    ]
    assert [r["times_faster"] for r in result.compare_simulation(rows)] == [None, None, 3]


def test_the_fastest_run_counts():
    runs = iter([(10, 0.5), (10, 0.2), (30, 0.4), (10, 9.0), (10, 0.01)])
    assert fastest(lambda: next(runs)) == (30, 0.4)


def test_the_fastest_training_counts():
    took = iter([0.5, 0.2, 0.4, 9.0])
    contender = replace(
        peers.LRNN, train=lambda X, hidden, budget: peers.FittedModel(next(took), budget, abs, abs)
    )
    assert trained(contender, np.ones((2, 2)), 1, 7).seconds == 0.2
    assert next(took) == 9.0  # 1.1 seconds were enough


def test_a_peer_that_fails_is_left_out_and_lrnn_may_not():
    def fail():
        raise RuntimeError("no such thing")

    peer, other = Competitor("peer", "Peer", ()), Competitor("other", "Other", ())
    steps = [Step(peer, "1", fail), Step(peer, "2", fail), Step(other, "", lambda: [{"error": 1}])]
    told = []
    rows, failed = carry_out(steps, lambda *what: told.append(what))
    assert rows == [{"contender": "other", "title": "Other", "error": 1}]
    assert failed == {"Peer": "failed: RuntimeError: no such thing"}
    assert told == [(0, 3, "Peer, 1"), (2, 3, "Other"), (3, 3, "")]
    with pytest.raises(RuntimeError, match="no such thing"):
        carry_out([Step(peers.LRNN, "", fail)], quiet)


def test_budgets_grow_as_long_as_the_next_is_no_longer_than_two_minutes(X):
    trained = []

    def train(X, hidden, iterations):
        trained.append(iterations)
        return FittedModel(LONGEST / 100 * iterations, iterations, lambda r: r, lambda c: c)

    slow = Factorisation("slow", "slow", (), train, "iterations", (10, 40, 100, 160))
    steps = [step for step in fit_steps(X, 3, [slow]) if step.contender is slow]
    rows, _ = carry_out(steps, quiet)
    assert [row["iterations"] for row in rows] == [10, 40, 100]
    assert trained == [1, 10, 40, 100]  # 1 to warm up
    assert [row["error"] for row in rows] == [0, 0, 0]


def test_parts_are_spread_over_the_data():
    X = np.arange(50, dtype=np.float32).reshape(10, 5)
    np.testing.assert_array_equal(part(X, (2, 3)), [[0, 2, 4], [45, 47, 49]])
    np.testing.assert_array_equal(part(X, (10, 5)), X)
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
    assert len(simulate_steps(X, 4, peers.SIMULATORS)) == 12


def test_contenders_are_found_by_name(monkeypatch):
    named, left_out = chosen("fit", ["nmf-mu", "nmf-mu"])
    assert [peer.title for peer in named] == ["NMF (mu)"]
    assert left_out == {}
    assert [peer.name for peer in chosen("scale")[0]] == ["nmf-cd"]
    with pytest.raises(ValueError, match=r"'nmf_cd'; did you mean 'nmf-cd'\? Known are nmf-cd"):
        chosen("encode", ["nmf_cd"])
    with pytest.raises(ValueError, match="simulate has no contender 'adam'; Known are ciw, brian2"):
        chosen("simulate", ["adam"])
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    installed, left_out = chosen("fit")
    assert [peer.name for peer in installed] == ["nmf-cd", "nmf-mu", "minibatch-nmf"]
    assert left_out["torchnmf"] == "not installed: pip install torch torchnmf"
    with pytest.raises(ModuleNotFoundError, match="ciw is not installed: pip install ciw"):
        chosen("simulate", ["ciw"])


def test_looking_for_contenders_imports_none_of_them():
    code = "import sys; from lrnn.benchmark import chosen; chosen('fit'); chosen('simulate')"
    heavy = "print(*sorted({'torch', 'torchnmf', 'ciw', 'brian2'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {heavy}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_figures_show_the_points():
    ax = Figure().subplots()
    many = [(float(i), 1 / i) for i in range(1, 30)]
    assert plots.error_against_time({"lrnn": many, "$peer": [(2.0, 0.5)]}, ax=ax) is ax
    np.testing.assert_array_equal(np.transpose(ax.lines[0].get_data()), many)
    assert ax.lines[0].get_markevery() == [-1]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["lrnn", r"\$peer"]
    ax = plots.time_against_size({"lrnn": [(10, 0.1), (20, 0.1)]}, size="events", ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("events", "seconds")
    with pytest.raises(ValueError, match="no points"):
        plots.error_against_time({"lrnn": []}, ax=ax)


def test_a_comparison_is_a_table_in_a_notebook():
    row = {"contender": "lrnn", "title": "<lrnn>", "iterations": 7, "seconds": 0.5, "error": 0.01,
           "lrnn_seconds": None, "times_faster": None}  # fmt: skip
    found = result.Result("fit", "digits", (90, 64), "float32", 4, True, [row], {"ciw": "missing"})
    text = found._repr_html_()
    assert "fit: digits, 90 rows, 64 → 4 neurons, float32 (QUICK RUN)" in text
    assert "<th>&lt;lrnn&gt;</th><td>7</td><td>0.5</td><td>0.01000</td><td></td>" in text
    assert "<p>ciw: missing</p>" in text
