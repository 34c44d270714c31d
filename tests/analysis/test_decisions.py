"""Decisions spike by spike: what they are, what they cost, and errors where none is made."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from lrnn import LRNNAutoencoder, LRNNClassifier, RandomNeuralNetwork, decisions
from lrnn.functional.decisions import decides, expected_spikes
from lrnn.spiking import SpikeCount
from naming import naming

UNLIKELY = 5.0  # standard deviations
PRICED = {"spike_penalty": 0.1, "label_smoothing": 0.1, "random_state": 0}


@pytest.fixture(scope="module")
def labels():
    return load_digits().target


@pytest.fixture(scope="module")
def model(digits, labels):
    return LRNNClassifier(20, **PRICED).fit(digits[:1000], labels[:1000])


@pytest.fixture(scope="module")
def rows(digits, model):
    """New rows that decide soon."""
    X = digits[1000:1200]
    return X[np.sort(np.argsort(expected_spikes(model.predict_proba(X)))[:60])]


@pytest.fixture(scope="module")
def found(model, rows):
    return model.decide(rows, start="stationary", random_state=0, progress=False)


# Decisions


def test_rows_are_decided_by_the_spikes_that_are_counted(model, rows, found):
    assert found.decided.all()
    np.testing.assert_array_equal(found.counts.sum(axis=1), found.spikes)
    np.testing.assert_array_equal(found.labels, model.classes_[found.counts.argmax(axis=1)])
    second, first = np.sort(found.counts, axis=1)[:, -2:].T
    assert decides(first, second, 10).all()
    before = decides(first - 1, second, 10)
    assert not before.any()  # the last spike was the one
    np.testing.assert_allclose(found.probabilities, model.predict_proba(rows), rtol=1e-9)
    np.testing.assert_array_equal(found.verdicts, model.predict(rows))
    assert repr(found) == "Decisions(60 of 60 rows decided)"
    assert (found.confidence, found.ratio, found.lead) == (0.95, None, None)


def test_they_agree_with_the_verdict_without_spikes_as_often_as_promised(model, rows):
    """By far, for the bound holds for the worst of shares."""
    confidence = 0.7
    copies = np.repeat(rows[:20], 10, axis=0)
    found = model.decide(
        copies, confidence=confidence, start="stationary", random_state=1, progress=False
    )
    wrong = 1 - found.agreement
    assert wrong <= 1 - confidence + UNLIKELY * np.sqrt(confidence * (1 - confidence) / 200)


def test_a_decision_takes_about_as_many_spikes_and_events_as_theory_says(found):
    assert 0.5 < found.spikes.sum() / found.expected_spikes.sum() < 1.5
    # Wald's identity: events are spikes times events per spike, on average
    excess = found.events / found.events_per_spike - found.spikes
    assert abs(excess.mean()) < UNLIKELY * excess.std() / np.sqrt(len(excess)) + 0.5
    assert (found.events <= found.limit).all()
    assert found.expected_events.sum() == pytest.approx(
        (found.expected_spikes * found.events_per_spike).sum()
    )


def test_events_per_spike_are_the_firings_per_output_spike_and_what_comes_beside(
    model, rows, found
):
    """S counts what inputs and hidden neurons fire; events also arrivals and the outputs."""
    network = model.to_network(least_rate=0)
    q = np.asarray(network.steady_state(model.arrivals(rows, network)))
    firings = np.exp(np.log(found.events_per_spike).mean())
    assert model.spikes_per_decision(rows) + 2 < firings < 2 * model.spikes_per_decision(rows) + 1
    outputs = (q * network.rates)[:, -10:].sum(axis=1)
    comes = model.arrivals(rows, network).sum(axis=1)
    expected = (comes + (q * network.rates).sum(axis=1)) / outputs
    np.testing.assert_allclose(found.events_per_spike, expected, rtol=1e-9)


def test_a_lead_decides_too(model, rows):
    found = model.decide(rows, lead=4, start="stationary", random_state=0, progress=False)
    second, first = np.sort(found.counts, axis=1)[:, -2:].T
    np.testing.assert_array_equal(first - second, 4)
    np.testing.assert_array_equal(
        found.expected_spikes, expected_spikes(found.probabilities, lead=4)
    )
    assert 0.6 < found.spikes.mean() / found.expected_spikes.mean() < 1.7
    assert found.spikes.mean() < 30
    assert (found.confidence, found.ratio, found.lead) == (None, None, 4)  # nothing is promised


def test_with_a_ratio_hard_rows_are_decided_sooner(digits, model):
    X = digits[1000:1100]
    shares = np.sort(model.predict_proba(X), axis=1)
    clear = shares[:, -1] > 1.5 * shares[:, -2]
    found = model.decide(X, ratio=1.5, events=1e7, start="stationary", random_state=0)
    assert (found.confidence, found.ratio, found.lead) == (0.95, 1.5, 13)
    assert found.decided.all()
    assert (found.labels == found.verdicts)[clear].mean() > 0.95 - UNLIKELY * 0.022  # of 90 rows
    exact = model.decide(X[clear], events=1e7, start="stationary", random_state=0)
    assert found.spikes[clear].mean() < 2 * exact.spikes.mean()
    hardest = np.argmax(expected_spikes(found.probabilities))
    assert found.expected_spikes[hardest] < 0.1 * expected_spikes(found.probabilities)[hardest]
    with pytest.raises(ValueError, match=naming("ratio=2", "lead=3")):
        model.decide(X, ratio=2, lead=3)


def test_the_same_seed_gives_the_same_decisions_whatever_the_threads(model, rows):
    one, two = (
        model.decide(rows[:8], lead=3, random_state=5, threads=n, progress=False) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_array_equal(one.events, two.events)
    other = model.decide(rows[:8], lead=3, random_state=6, progress=False)
    assert (other.spikes != one.spikes).any()


def test_many_rows_are_simulated_in_parts(model, rows, monkeypatch):
    monkeypatch.setattr(decisions, "ROWS_AT_ONCE", 7)
    found = model.decide(rows, lead=5, random_state=0, start="stationary", progress=False)
    assert found.decided.all()
    assert found.agreement > 0.8
    assert (found.events > 0).all()


@pytest.mark.parametrize("kind", ["sparse", "file", "float32", "frame"])
def test_rows_of_any_kind_decide_alike(model, rows, kind, tmp_path):
    np.save(tmp_path / "x.npy", rows[:6])
    kinds = {
        "sparse": sparse.csr_array,
        "file": lambda X: tmp_path / "x.npy",
        "float32": lambda X: X.astype(np.float32),  # sixteenths: no rounding
        "frame": pd.DataFrame,
    }
    same = model.decide(kinds[kind](rows[:6]), lead=3, random_state=0, progress=False)
    found = model.decide(rows[:6], lead=3, random_state=0, progress=False)
    np.testing.assert_array_equal(same.counts, found.counts)
    np.testing.assert_array_equal(same.events, found.events)


def test_from_rest_a_decision_comes_later(model, rows, found):
    rest = model.decide(rows, random_state=0, progress=False)
    assert rest.start == "empty"
    assert np.median(rest.events) > np.median(found.events)
    assert rest.agreement > 0.9


def test_a_score_does_not_count_rows_without_spikes(found):
    truth = found.labels.copy()
    assert found.score(truth) == 1
    silent = decisions.Decisions(**{**vars(found), "spikes": 0 * found.spikes})
    assert silent.score(truth) == 0


# Errors and warnings about decisions that are not made


def test_networks_whose_spikes_are_free_are_refused_at_once(digits, labels):
    free = LRNNClassifier(30, random_state=0).fit(digits[:500], labels[:500])
    remedy = naming("1,000,000 events", "spike_penalty", 0.1)
    with pytest.raises(decisions.UndecidableError, match=remedy):
        free.decide(digits[500:600])
    with pytest.warns(UserWarning, match=naming("5 of 5", "1,000 events", "spike_penalty", 0.1)):
        curve = decisions.accuracy_by_events(
            free, digits[500:505], labels[500:505], events=1_000, random_state=0
        )
    assert curve.silent[-1].all()
    assert (curve.accuracy == 0).all()


def test_a_remedy_is_none_that_the_model_has_already(model, rows):
    """A higher price, if output spikes cost many events; a ratio, if classes fire almost alike."""
    price = model.spike_penalty
    higher = naming("spike_penalty", f"{price:g}", f"{3 * price:.2g}")
    with pytest.raises(decisions.UndecidableError, match=higher):
        model.decide(rows, events=100)
    alike = LRNNClassifier(2, spike_penalty=0.1, max_iter=1, random_state=0)
    alike.fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    for matrix in (*alike.weights_.excitatory, *alike.weights_.inhibitory):
        matrix[:] = 0.5
    alike.weights_.excitatory[-1][:, 0] = 0.55
    with pytest.raises(decisions.UndecidableError, match=naming("20,000 events", "ratio", 1.5)):
        alike.decide([[0.5, 0.5]], events=20_000)
    with pytest.raises(decisions.UndecidableError, match=naming("spike_penalty", 0.1, 0.3)):
        alike.decide([[0.5, 0.5]], events=500)


def test_undecided_rows_are_reported_with_the_reason(digits, model, rows):
    X = np.vstack([rows[:5], np.zeros((2, 64))])
    with pytest.warns(UserWarning, match=naming("2 of 7", "28.6", "1,000,000 events", "in 2")):
        found = model.decide(X, random_state=0, progress=False)
    assert found.decided.tolist() == 5 * [True] + 2 * [False]
    assert (found.spikes[5:] == 0).all()
    assert np.isinf(found.events_per_spike[5:]).all()
    hard = digits[1000:1200]
    hard = hard[np.argsort(expected_spikes(model.predict_proba(hard)))[[0, -1]]]
    with pytest.warns(UserWarning, match=naming("1 of 2", "50.0", "200,000 events", "in 1")):
        found = model.decide(hard, events=200_000, random_state=0, progress=False)
    assert found.events[1] == pytest.approx(200_000, rel=1e-6)
    assert found.spikes[1] > 0
    with pytest.raises(ValueError, match=naming("3 rows", "output spike")):
        model.decide(np.zeros((3, 64)))


def test_a_tie_is_never_decided():
    network_rows = np.array([[0.5, 0.5]])
    model = LRNNClassifier(2, max_iter=1, random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    for matrix in (*model.weights_.excitatory, *model.weights_.inhibitory):
        matrix[:] = 0.5
    with pytest.raises(ValueError, match=naming("ratio", 1.5)):
        model.decide(network_rows)


def test_spikes_that_cannot_be_kept_are_refused(model, rows, monkeypatch):
    monkeypatch.setattr(decisions, "RECORD_BYTES", 12_000)
    with pytest.raises(ValueError, match=naming("1,000,000,000", "events", "output spikes")):
        model.decide(rows, events=1e9)
    found = model.decide(rows[:5], events=3e5, lead=2, random_state=0, progress=False)  # in parts
    assert found.decided.all()


def test_what_takes_long_is_announced(model, rows, monkeypatch):
    monkeypatch.setattr(decisions, "LONG", 1e4)
    with pytest.warns(UserWarning, match=naming("events", "minutes")):
        model.decide(rows[:3], random_state=0, progress=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", 1.0),
        ("lead", 0),
        ("lead", 2.5),
        ("events", 0),
        ("ratio", 1.0),
        ("ratio", "2"),
        ("start", "rest"),
    ],
)
def test_wrong_settings(model, rows, name, value):
    with pytest.raises(ValueError, match=naming(name, repr(value))):
        model.decide(rows[:2], progress=False, **{name: value})


# The rule itself


def test_a_simulation_ends_where_counted_spikes_decide():
    network = RandomNeuralNetwork([1.0, 1.0, 1.0], np.zeros((3, 3)))
    arrivals = np.array([[0.9, 0.1, 0.1], [0.5, 0.48, 0.0]])
    with pytest.warns(UserWarning, match=naming("1 of 2", "row 1")):
        result = network.simulate(
            arrivals, events=20_000, until=SpikeCount([0, 1, 2]), random_state=0, progress=False
        )
    assert result.reached.tolist() == [True, False]
    assert result.decision[0] == 0
    assert result.events[0] < 2_000
    assert result.events[1] == 20_000
    one = network.simulate(arrivals[0], until=SpikeCount([1, 2, 0], lead=20), random_state=0)
    assert one.reached
    assert one.decision == 0
    fired = np.sort(one.firing_counts)
    assert fired[-1] - fired[-2] >= 20


def test_events_between_snapshots():
    network = RandomNeuralNetwork([1.0], [[0.0]])
    result = network.simulate(
        [[0.5], [0.7]], events=1_000, snapshots=[100, 500], random_state=0, progress=False
    )
    ends = result.time
    np.testing.assert_allclose(result.events_at(ends), 1_000)
    np.testing.assert_allclose(result.events_at(result.at(500).time), 500)
    halfway = (result.at(100).time + result.at(500).time) / 2
    np.testing.assert_allclose(result.events_at(halfway), 300)
    np.testing.assert_allclose(result.events_at([0.0, 0.0]), 0)
    many = network.simulate([0.5], events=100, replicas=3, random_state=0)
    with pytest.raises(ValueError, match=naming("events_at", 3)):
        many.events_at([1.0])


# Accuracy against events


def test_a_classifier_comes_to_its_accuracy_as_theory_says(digits, labels, model):
    X, y = digits[1000:1200], labels[1000:1200]
    curve = decisions.accuracy_by_events(
        model, X, y, events=200_000, start="stationary", random_state=0, progress=False
    )
    assert curve.events[0] == 10
    assert curve.events[-1] == 200_000
    assert curve.exact == model.score(X, y)
    spread = np.sqrt(curve.expected * (1 - curve.expected) / len(X))
    assert (abs(curve.accuracy - curve.expected) < UNLIKELY * spread + 0.01).all()
    assert curve.accuracy[-1] > curve.exact - 0.05
    assert (curve.silent[1:] <= curve.silent[:-1]).all()
    assert not (curve.right & curve.silent).any()
    assert curve.lines()[-1][:2] == ["without spikes", f"{curve.exact:.3f}"]
    assert len(curve.header) == len(curve.lines()[0]) == len(curve.lines()[-1])
    assert "<table>" in curve._repr_html_()
    with pytest.raises(ValueError, match=naming("stopping", "LRNNClassifier.decide")):
        curve.stopping(0.95)


def test_codes_from_spikes_come_to_the_accuracy_of_exact_codes(digits, labels):
    autoencoder = LRNNAutoencoder(16, random_state=0).fit(digits[:1000])
    linear = LogisticRegression(C=10, max_iter=2_000)
    linear.fit(autoencoder.transform(digits[:1000]), labels[:1000])
    X, y = digits[1000:1100], labels[1000:1100]
    curves = [
        decisions.accuracy_by_events(
            autoencoder, X, y, classifier=linear, events=50_000, start=start, random_state=0,
            progress=False,
        )
        for start in ("empty", "stationary")
    ]  # fmt: skip
    for curve in curves:
        assert curve.exact == linear.score(autoencoder.transform(X), y)
        assert curve.agree[-1].mean() > 0.9
        assert curve.accuracy[0] < 0.5 < curve.accuracy[-1]
        assert curve.expected is None
        right, events = curve.stopping(0.95)
        assert events.mean() < 40_000
        assert right.mean() > curve.exact - 0.1
        assert (curve.stopping(0.6)[1] <= events).all()
        sure = curve.sureness[list(curve.events).index(events[0]), 0]
        assert sure >= 0.95 or events[0] == 50_000
    soon = list(curves[0].events).index(200)
    assert curves[1].accuracy[soon] > curves[0].accuracy[soon]  # there is nothing to fill


def test_input_spikes_come_to_the_accuracy_of_the_inputs(digits, labels):
    linear = LogisticRegression(max_iter=1_000).fit(digits[:1000], labels[:1000])
    X, y = np.vstack([digits[1000:1100], np.zeros(64)]), labels[1000:1101]
    curve = decisions.accuracy_by_events(
        None, X, y, classifier=linear, events=20_000, random_state=0
    )
    assert curve.exact == linear.score(X, y)
    assert curve.agree[-1, :-1].mean() > 0.95
    assert curve.silent[:, -1].all()  # a dark row has no spikes
    assert not curve.silent[:, :-1].any()
    assert not curve.right[:, -1].any()
    right, events = curve.stopping(0.95)
    assert events.mean() < 5_000
    assert events[-1] == 20_000  # it is never sure
    assert right.mean() > curve.exact - 0.05


def test_what_an_event_curve_refuses(digits, labels, model):
    X, y = digits[:5], labels[:5]
    autoencoder = LRNNAutoencoder(2, max_iter=2).fit(digits[:50])
    with pytest.raises(ValueError, match=naming("classifier=", "LRNNAutoencoder", None)):
        decisions.accuracy_by_events(autoencoder, X, y)
    with pytest.raises(ValueError, match=naming("classifier=", "LogisticRegression()")):
        decisions.accuracy_by_events(model, X, y, classifier=LogisticRegression())
    with pytest.raises(ValueError, match=naming("y", "(4,)", "X", 5)):
        decisions.accuracy_by_events(model, X, y[:4])
    with pytest.raises(ValueError, match=naming("classifier=", "X")):
        decisions.accuracy_by_events(None, X, y)
    linear = LogisticRegression(max_iter=1_000).fit(digits[:100], labels[:100])
    with pytest.raises(ValueError, match=naming("X", "[0, 1]", -1)):
        decisions.accuracy_by_events(None, X - 1, y, classifier=linear)


def test_nothing_is_said_without_need(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decide(rows[:5], random_state=0, progress=False)


def test_input_spikes_need_data_in_range(digits, labels):
    linear = LogisticRegression(max_iter=200).fit(digits[:300], labels[:300])
    with pytest.raises(ValueError, match=naming("X", "[0, 1]", 16)):
        decisions.accuracy_by_events(
            None, digits[:5] * 16, labels[:5], classifier=linear, events=100
        )


def test_rows_that_are_no_matrix_and_no_rows_are_refused(model, rows):
    with pytest.raises(ValueError, match=naming("(0, 64)")):
        model.decide(rows[:0])
    with pytest.raises(ValueError, match=naming("2D", "1D")):
        model.decide(rows[0])
