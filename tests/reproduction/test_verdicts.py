"""Verdicts on the paper's claims follow from results, and name what shows them."""

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from reproduction import verdicts
from reproduction.experiments import STRUCTURES, UCI
from reproduction.verdicts import CLAIMS

ROOT = Path(__file__).parents[2]
COMMANDS = ("lrnn ", "python -m reproduction ")


def found_of(results, words):
    (row,) = [row for row in verdicts.verdicts(results) if words in row["claim"]]
    return row["verdict"], row["why"]


def test_what_shows_it_is_there():
    for claim in CLAIMS:
        for shown in claim["shown_by"].split(", "):
            assert shown == "–" or shown.startswith(COMMANDS) or (ROOT / shown).exists(), shown


def test_a_claim_has_a_verdict_or_what_judges_it():
    for claim in CLAIMS:
        assert ("judged_by" in claim) != ("verdict" in claim)
        known = {
            "section",
            "says",
            "verdict",
            "why",
            "why_confirmed",
            "judged_by",
            "of",
            "shown_by",
        }
        assert {"section", "says", "why", "shown_by"} <= claim.keys() <= known
    assert {claim["judged_by"] for claim in CLAIMS if "judged_by" in claim} == set(verdicts.JUDGES)


def test_all_parts_of_the_paper_are_judged():
    parts = {part for claim in CLAIMS for part in claim["section"].split(", ")}
    assert parts == {"abstract", "1", "2", "3", "4", "5.1", "5.2", "6", "7"}
    assert len({claim["says"] for claim in CLAIMS}) == len(CLAIMS) == 34


def test_without_results_nothing_measured_is_judged():
    rows = verdicts.verdicts([])
    open_ = {row["claim"] for row in rows if row["verdict"] == "not run"}
    assert "The lowest error of the shallow network on MNIST is 0.0204" in open_
    assert "The adjustment guarantees that weights satisfy the RNN constraints" in open_
    assert len(open_) == sum("judged_by" in claim for claim in CLAIMS) - 1  # the paper's Table 1
    assert {row["verdict"] for row in rows} == {
        "not run",
        *(c.get("verdict", "corrected") for c in CLAIMS),
    }


def training(subject, method="printed", rates="free", error=0.02, **more):
    facts = {"kind": "training", "subject": subject, "method": method, "rates": rates, "seed": 0}
    return facts | {"error": error, "largest_row_sum": 1.0, "bound": 0.01} | more


def test_rows_that_sum_to_more_than_one_correct_the_paper():
    inside = training("mnist-50")
    outside = training("mnist-100", largest_row_sum=7.5)
    says = "The adjustment guarantees"
    assert found_of([inside], says)[0] == "confirmed"
    verdict, why = found_of([inside, outside], says)
    assert verdict == "corrected"
    assert "1 of 2" in why
    assert "7.5" in why


def test_a_bound_above_the_papers_error_makes_it_impossible():
    name = "mnist-50"
    says = "Rates may be set to 1"
    assert STRUCTURES[name].paper == 0.0204
    assert found_of([training(name, "lrnn", "unit", bound=0.03)], says)[0] == "impossible"
    assert found_of([training(name, "lrnn", "unit", bound=0.02)], says)[0] == "bounded"


def stalled(subject, method, seed=0, *, error=0.02, batch=0.02, fall=0.0, unrest=0.05):
    wave = 0.02 * (1 + unrest * np.array([1.0, -1.0] * 20))
    stage = {"fall": fall, "unrest": unrest, "whole": wave.tolist()}
    facts = {"kind": "stalled", "subject": subject, "method": method, "reading": "", "seed": seed}
    return facts | {"error": error, "lowest_batch": batch, "stages": [stage]}


@pytest.mark.parametrize(
    ("batch", "words"), [(0.0204, "a single minibatch"), (0.0206, "it is not reached, even on")]
)
def test_lowest_errors_are_those_of_minibatches_or_not(batch, words):
    runs = [stalled("mnist-50", "algorithm1", error=0.0239, batch=batch)]
    verdict, why = found_of(runs, "shallow network on MNIST is 0.0204")
    assert verdict == "corrected"
    assert words in why
    assert "lowest on all rows 0.0239" in why


@pytest.mark.parametrize(
    ("shallow", "deep", "expected"),
    [(0.05, 0.2, "confirmed"), (0.1, 0.1, "corrected"), (0.2, 0.05, "corrected")],
)
def test_stability_is_a_matter_of_unrest(shallow, deep, expected):
    noise = np.random.default_rng(0).uniform(0.9, 1.1, 10)
    runs = [stalled("yale-50", "algorithm1", i, unrest=shallow * n) for i, n in enumerate(noise)]
    runs += [
        stalled("yale-500-100-50", "algorithm3", i, unrest=deep * n) for i, n in enumerate(noise)
    ]
    assert found_of(runs, "seems more stable")[0] == expected


def test_what_still_falls_is_named():
    runs = [stalled("cifar10-150", "algorithm1", fall=0.05)]
    verdict, why = found_of(runs, "both CIFAR-10 networks converge")
    assert verdict == "bounded"
    assert "cifar10-150 still falls" in why


@pytest.mark.parametrize(("deep", "expected"), [(0.0205, "confirmed"), (0.03, "bounded")])
def test_alike_is_within_a_tenth(deep, expected):
    runs = [
        training(name, method, error=error)
        for method in ("printed", "lrnn")
        for name, error in (("mnist-50", 0.02), ("mnist-1000-500-250-50", deep))
    ]
    assert found_of(runs, "perform alike")[0] == expected


@pytest.mark.parametrize(("errors", "expected"), [([3, 2, 1], "confirmed"), ([1, 2, 3], "bounded")])
def test_errors_decrease_or_not(errors, expected):
    runs = [training(UCI[0].name, curves=[{"errors": errors}])]
    verdict, why = found_of(runs, "errors generally decrease")
    assert verdict == expected
    assert f"1 of {len(UCI)} sets" in why


def test_recognition_is_told_beside_raw_attributes():
    scores = {"raw": 0.8, "lrnn": 0.6, "printed": 0.4}
    results = [
        {"structure": "mnist-50", "features": name, "classifier": "linear", "accuracy": share}
        for name, share in scores.items()
    ]
    deep = {"structure": "mnist-1000-500-250-50", "features": "lrnn"}
    results.append(deep | {"classifier": "linear", "accuracy": 0.2})
    _, why = found_of([{"kind": "recognition", "results": results}], "recognition accuracy")
    assert "lrnn: 75 %" in why
    assert "printed: 50 %" in why
    assert "lrnn, deep: 25 %" in why


def test_table_1_is_counted_again():
    verdict, why = found_of([], "Table 1")
    assert verdict == "corrected"
    assert "14 of 16" in why
    assert "Zoo has 101 instances, not 100" in why


def test_the_results_that_are_kept_have_the_verdicts_of_today():
    """As far as these need no results."""
    with (ROOT / "docs/results/verdicts.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    for row, own in zip(kept, verdicts.verdicts([]), strict=True):
        measured = own["verdict"] == "not run"
        assert (row | {"verdict": "not run", "why": ""} if measured else row) == own


def test_the_page_on_the_claims_has_the_verdicts_of_the_results():
    with (ROOT / "docs/results/verdicts.csv").open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    page = (ROOT / "docs/history.md").read_text(encoding="utf-8")
    counts, shown, verdict = Counter(), set(), ""
    for line in page.splitlines():
        if line.startswith("| **") or line.startswith("| | "):
            name, _, count, _, _, by = (cell.strip() for cell in line.strip("|").split(" | "))
            verdict = name.strip("*") or verdict
            counts[verdict] += int(count)
            shown.update(re.findall("(?:lrnn|python -m) [a-z0-9 ]+", by))
    assert counts == Counter(row["verdict"] for row in kept)
    assert shown == {row["shown_by"] for row in kept if row["shown_by"].startswith(COMMANDS)}
    said = " ".join(row["claim"] + row["why"] for row in kept)
    for figure in re.findall(r"0\.\d{4}", page):
        assert figure in said, figure
