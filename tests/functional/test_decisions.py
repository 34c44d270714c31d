"""Decisions from counted spikes, against enumeration, integrals and draws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from lrnn.functional.decisions import (
    decides,
    expected_spikes,
    first_passage,
    lead_for,
    leading,
    log_evidence,
    ruin,
    two_class_law,
)

UNLIKELY = 5.0  # standard deviations


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_evidence_is_the_integral_that_defines_it(a, b):
    value, _ = integrate.quad(lambda t: 2 * (2 * t) ** a * (2 * (1 - t)) ** b, 0.5, 1)
    assert np.exp(log_evidence(a, b)) == pytest.approx(value, rel=1e-7)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.floats(0, 0.5))
def test_evidence_does_not_grow_on_average_for_the_lesser_class(a, b, share):
    """A supermartingale: what Ville's inequality needs. It grows with a, and falls with b."""
    now, one, other = (float(log_evidence(*pair)) for pair in ((a, b), (a + 1, b), (a, b + 1)))
    assert one > now > other
    assert share * np.exp(one - now) + (1 - share) * np.exp(other - now) <= 1 + 1e-9


def test_decisions_are_where_evidence_is_enough():
    """Also where it is not taken, for a bound says that it is not."""
    first, second = np.meshgrid(np.arange(120), np.arange(120))
    for confidence, classes in ((0.6, 2), (0.95, 10)):
        enough = np.log((classes - 1) / (1 - confidence))
        expected = log_evidence(first, second) >= enough
        ahead = first >= second
        found = decides(first, second, classes, confidence=confidence)
        np.testing.assert_array_equal(found[ahead], expected[ahead])


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("share", [0.5, 0.51, 0.6, 0.8, 0.99])
def test_two_classes_err_as_seldom_as_promised(share, confidence):
    error, spikes, still_open = two_class_law(share, confidence=confidence, most=1500)
    if share == 0.5:  # neither is wrong, and both together are rarely decided for
        assert 2 * error <= 2 * (1 - confidence)
        return
    assert 0 <= error <= 1 - confidence
    assert spikes >= 1
    assert error + still_open < 1


@pytest.mark.parametrize("share", [0.5, 0.55, 0.7, 0.95])
@pytest.mark.parametrize("lead", [1, 2, 5])
def test_a_lead_between_two_classes_is_gamblers_ruin(share, lead):
    error, spikes = ruin(np.array([1 - share, share]), lead)
    law = two_class_law(share, lead=lead, most=4000)
    np.testing.assert_allclose(law, (error, spikes, 0), atol=1e-9)
    beside = ruin(np.array([0.5 * share, 0.5, 0.5 * (1 - share)])[[0, 2]], lead)
    assert beside[0] == pytest.approx(error)  # others only take time
    assert beside[1] == pytest.approx(2 * spikes)


def drawn(shares, trials, **rule):
    """Decisions on independent draws: who, and after how many."""
    random = np.random.default_rng(0)
    chosen, counts = [], []
    for _ in range(trials):
        classes = random.choice(len(shares), 4000, p=shares)
        number, count = first_passage(classes, len(shares), **rule)
        assert number
        assert count.sum() == number
        chosen.append(int(count.argmax()))
        counts.append(number)
    return np.array(chosen), np.array(counts)


@pytest.mark.parametrize("confidence", [0.7, 0.95])
def test_several_classes_err_as_seldom_as_promised(confidence):
    shares = np.array([0.3, 0.4, 0.1, 0.2])
    chosen, counts = drawn(shares, 500, confidence=confidence)
    wrong = np.mean(chosen != 1)
    assert wrong <= 1 - confidence + UNLIKELY * np.sqrt(confidence * (1 - confidence) / 500)
    estimate = expected_spikes(shares[None], confidence=confidence)[0]
    assert 0.6 * counts.mean() < estimate < 1.4 * counts.mean()


@pytest.mark.parametrize("ratio", [1.5, 3.0])
def test_a_lead_is_as_sure_as_promised_where_the_best_fires_so_much_more(ratio):
    """The least favourable shares: all others alike."""
    shares = np.array([1.0, ratio, 1.0, 1.0]) / (3 + ratio)
    lead = lead_for(0.8, ratio, 4)
    assert 3 / ratio**lead <= 0.2 < 3 / ratio ** (lead - 1)
    chosen, counts = drawn(shares, 500, lead=lead)
    wrong = np.mean(chosen != 1)
    assert 0 < wrong <= 0.2 + UNLIKELY * np.sqrt(0.16 / 500)
    assert 0.4 * counts.mean() < ruin(shares, lead)[1] < counts.mean()  # from below


def test_an_estimate_of_spikes_is_near_the_exact_number_for_two_classes():
    for share in (0.6, 0.7, 0.9, 0.99):
        _, spikes, still_open = two_class_law(share, most=1500)
        assert still_open < 1e-3
        estimate = expected_spikes(np.array([[share, 1 - share]]))[0]
        assert estimate == pytest.approx(spikes, rel=0.35)


def test_what_is_hard_takes_more_spikes_and_a_tie_forever():
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.5 + 1e-4, 0.5 - 1e-4], [0.5, 0.5]])
    found = expected_spikes(shares)
    assert (np.diff(found) > 0).all()
    assert 1e8 < found[2] < 1e10  # log(n / α) over the relative entropy, 2·10⁻⁸
    assert np.isinf(found[3])
    assert (expected_spikes(shares[:2], confidence=0.999) > found[:2]).all()
    np.testing.assert_array_equal(expected_spikes(np.ones((2, 1))), 1)
    assert ruin(np.array([0.5, 0.5]), 4)[1] == 16


def test_a_decision_is_made_at_the_first_spike_that_makes_it():
    random = np.random.default_rng(1)
    for lead, confidence in ((2, 0.9), (None, 0.8)):
        rule = {"lead": lead, "confidence": confidence}
        for _ in range(20):
            classes = random.choice(3, 60, p=[0.6, 0.3, 0.1])
            number, counts = first_passage(classes, 3, **rule)
            for n in range(1, 61):
                count = np.bincount(classes[:n], minlength=3)
                second, first = np.sort(count)[-2:]
                if decides(first, second, 3, **rule):
                    break
            else:
                n = 0
            assert number == n
            np.testing.assert_array_equal(counts, np.bincount(classes[: n or 60], minlength=3))
    assert first_passage([], 3)[0] == 0
    assert first_passage([0], 1)[0] == 1


@pytest.mark.parametrize("means", [(0.3, 0.2), (2.0, 1.0, 1.5), (0.0, 3.0, 0.01)])
def test_who_leads_is_what_all_counts_together_say(means):
    counts = np.arange(18)
    laws = [np.exp(-m) * m**counts / np.cumprod(np.maximum(counts, 1.0)) for m in means]
    found = np.zeros(len(means))
    for each in product(counts, repeat=len(means)):
        if any(each):
            chance = np.prod([law[k] for law, k in zip(laws, each, strict=True)])
            found[np.argmax(each)] += chance
    np.testing.assert_allclose(leading(np.array(means)), found, atol=1e-6)
    assert leading(np.array(means)).sum() == pytest.approx(1 - np.exp(-sum(means)), abs=1e-9)


def test_who_leads_after_many_spikes():
    found = leading(np.array([1e6, 1e6 + 2e3]))
    np.testing.assert_allclose(found, [0.0787, 0.9213], atol=2e-3)  # a normal law, √2 away
    np.testing.assert_array_equal(leading(np.zeros(3)), 0)
