"""A verdict on every claim of the paper: what it says, what was found, and what shows it.

The claims are in claims.toml, with the verdicts on what can be proved or is a matter of words.
Verdicts on what was measured follow from the results at hand, by a function of this module; where
results are missing, the claim is "not run".
"""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from lrnn.datasets import DATA_SETS
from reproduction import figure4, lowest
from reproduction.experiments import IMAGES, SIMULATED, STRUCTURES, UCI
from reproduction.summary import Result, mean, trainings

Verdict: TypeAlias = Literal[
    "confirmed", "corrected", "bounded", "impossible", "unclear", "literature", "not run"
]
Found: TypeAlias = tuple[Verdict, dict[str, Any]] | None
"""What judges say: a verdict and the numbers of its reason, or None if the results do not tell."""

CLAIMS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
)["claim"]
"""All claims, in the order of the paper."""


def verdicts(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One row for each claim."""
    rows = []
    for claim in CLAIMS:
        verdict, why = claim.get("verdict", "not run"), claim["why"]
        if "judged_by" in claim:
            found = JUDGES[claim["judged_by"]](results, *claim.get("of", ()))
            verdict, numbers = found or ("not run", {})
            why = claim.get(f"why_{verdict}", why).format(**numbers) if found else ""
        row = {"section": claim["section"], "claim": claim["says"], "verdict": verdict}
        rows.append(row | {"why": why, "shown_by": claim["shown_by"]})
    return rows


def constraints(results: Sequence[Result]) -> Found:
    """Whether weights of the algorithms as printed keep to row sums of 1."""
    found = [r for r in results if r["kind"] == "training" and _as_printed(r)]
    if not found:
        return None
    sums = np.array([r["largest_row_sum"] for r in found])
    above = int((sums > 1 + 1e-6).sum())
    verdict: Verdict = "corrected" if above else "confirmed"
    return verdict, {"above": above, "count": len(found), "largest": sums.max()}


def unit_rates(results: Sequence[Result]) -> Found:
    """Whether the errors that the paper reports can be had with all rates 1."""
    found = trainings(results)
    said, impossible = [], 0
    for structure in IMAGES:
        ours = found.get((structure.name, "unit", "lrnn"))
        if structure.paper is None or not ours:
            continue
        impossible += ours[0]["bound"] > structure.paper
        said.append(
            f"{structure.label}: no network with rates 1 has an error below "
            f"{ours[0]['bound']:.4f} (ours has {mean(ours, 'error'):.4f}), the paper reports "
            f"{structure.paper:.4f}"
        )
    if not said:
        return None
    return ("impossible" if impossible == len(said) else "bounded"), {"said": "; ".join(said)}


def converges(results: Sequence[Result], *data: str) -> Found:
    """Whether errors of the algorithms as printed fall to a level and stay there."""
    rows = [
        (name, found)
        for (name, _, reading), found in lowest.groups(results).items()
        if STRUCTURES[name].data in data and not reading
    ]
    if not rows:
        return None
    falling = [n for n, found in rows if any(r["stages"][-1]["fall"] >= 0.01 for r in found)]
    restless = [u for _, found in rows for r in found if (u := lowest.unrest(r)) is not None]
    return "bounded", {
        "falling": f"{', '.join(falling)} still falls when it ends; " if falling else "",
        "least": 100 * min(restless),
        "most": 100 * max(restless),
    }


def lowest_error(results: Sequence[Result], name: str) -> Found:
    """What of the printed algorithm comes to the error that the paper reports."""
    said, best = [], []
    for (subject, method, reading), found in lowest.groups(results).items():
        if subject != name or reading:
            continue
        batch = [r["lowest_batch"] for r in found]
        said.append(
            f"Algorithm {lowest.ALGORITHMS[method]} ({len(found)} seeds): lowest on all rows "
            f"{mean(found, 'error'):.4f}, on one minibatch {min(batch):.4f} to {max(batch):.4f}"
        )
        best.append(min(batch))
    if not said:
        return None
    reached = min(best) <= (STRUCTURES[name].paper or 0) + 5e-5
    on_one = "as the error of a single minibatch, the best of all, it is reached; "
    on_all = "as the error on all images it is not"
    how = on_one + on_all if reached else "it is not reached, even on single minibatches"
    return "corrected", {"how": how, "said": "; ".join(said)}


def alike(results: Sequence[Result], shallow: str, deep: str) -> Found:
    """Whether shallow and deep errors are similar."""
    found = trainings(results)
    said, apart = [], []
    for method, who in (("printed", "as printed"), ("lrnn", "by our solver")):
        one, other = (found.get((name, "free", method)) for name in (shallow, deep))
        if not one or not other:
            return None
        a, b = mean(one, "error"), mean(other, "error")
        apart.append(abs(b / a - 1))
        said.append(f"{a:.5f} and {b:.5f} {who} ({100 * (b / a - 1):+.0f} %)")
    return ("confirmed" if max(apart) < 0.1 else "bounded"), {"said": ", ".join(said)}


def stability(results: Sequence[Result]) -> Found:
    """Whether the shallow Yale network is more stable than the deep one."""
    found = lowest.groups(results)
    shallow = found.get(("yale-50", "algorithm1", ""))
    deep = found.get(("yale-500-100-50", "algorithm3", ""))
    if not shallow or not deep or min(len(shallow), len(deep)) < 2:
        return None
    sides = []
    for runs in (shallow, deep):
        rows = np.array([[lowest.unrest(r), r["stages"][0]["unrest"]] for r in runs], dtype=float)
        sides.append((rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))))
    (one, one_error), (other, other_error) = sides
    apart = (other - one) / np.hypot(one_error, other_error)
    verdict: Verdict = "confirmed" if (apart > 2).all() else "corrected"
    return verdict, {
        "runs": len(shallow),
        "shallow": 100 * one,
        "deep": 100 * other,
        "apart": apart,
    }


def both_at_once(results: Sequence[Result]) -> Found:
    """Whether shallow and deep CIFAR-10 networks reach the same error."""
    found = trainings(results)
    one, other = (found.get((s.name, "free", "lrnn")) for s in IMAGES if s.data == "cifar10")
    if not one or not other:
        return None
    a, b = mean(one, "error"), mean(other, "error")
    same = abs(a - b) < 1e-4 and abs(a - 0.0082) < 1e-4
    return ("confirmed" if same else "corrected"), {"shallow": a, "deep": b}


def uci(results: Sequence[Result]) -> Found:
    """Whether errors on the UCI sets generally decrease with iterations."""
    found = trainings(results)
    steps: list[float] = []
    fell = []
    for structure in UCI:
        for result in found.get((structure.name, "free", "printed"), []):
            errors = np.asarray(result["curves"][-1]["errors"])
            steps += (np.diff(errors) <= 0).tolist()
            fell.append(1 - errors.min() / errors[0])
    if not fell:
        return None
    count = len({s.name for s in UCI if (s.name, "free", "printed") in found})
    verdict: Verdict = "confirmed" if np.mean(steps) > 0.5 and min(fell) > 0 else "bounded"
    return verdict, {
        "count": count, "sets": len(UCI), "runs": len(fell), "steps": 100 * np.mean(steps),
        "least": 100 * min(fell), "most": 100 * max(fell),
    }  # fmt: skip


def table1(results: Sequence[Result]) -> Found:
    """Whether data sets are as the paper's Table 1 has them."""
    entries = [e for e in DATA_SETS.values() if e.image_shape is None]
    other = [e for e in entries if e.paper_rows not in (None, e.rows)]
    said = ", ".join(f"{e.title} has {e.rows} instances, not {e.paper_rows}" for e in other)
    right = len(entries) - len(other)
    return "corrected", {"right": right, "count": len(entries), "other": said}


def recognises(results: Sequence[Result]) -> Found:
    """Whether codes are good to recognise by."""
    kept: dict[str, list[float]] = defaultdict(list)
    for result in results:
        if result["kind"] != "recognition":
            continue
        found = result["results"]
        raw = {r["classifier"]: r["accuracy"] for r in found if r["features"] == "raw"}
        for one in found:
            if one["features"] in ("printed", "lrnn"):
                deep = STRUCTURES[one["structure"]].deep
                name = f"{one['features']}{', deep' * deep}"
                kept[name].append(one["accuracy"] / raw[one["classifier"]])
    if not kept:
        return None
    said = [
        f"{name}: {100 * np.median(shares):.0f} % of the accuracy from raw attributes (median; "
        f"{100 * min(shares):.0f} to {100 * max(shares):.0f})"
        for name, shares in kept.items()
    ]
    return "bounded", {"said": "; ".join(said)}


def spiking(results: Sequence[Result], which: str) -> Found:
    """What simulations say of one of the claims of section 6."""
    rows = [r for r in figure4.verdicts(results) if r["claim"] == figure4.CLAIMS[which]]
    if not rows:
        return None
    said = dict.fromkeys(f"{r['network']}: {r['verdict']}" for r in rows)
    all_so = all(r["verdict"] == "confirmed" for r in rows)
    return ("confirmed" if all_so else "bounded"), {"said": "; ".join(said)}


def as_simulated(results: Sequence[Result]) -> Found:
    """Whether the network of section 6 can be simulated with rates 1 and w = p."""
    found = dict(figure4.simulations(results))
    if "printed" not in found:
        return None
    above, (_, largest) = (found["printed"][n][1] for n in ("rows_above_one", "row_sums"))
    rows = found["printed"]["neurons"][1]
    return ("impossible" if above else "confirmed"), {
        "above": above,
        "rows": rows,
        "largest": largest,
    }


def conforms(results: Sequence[Result]) -> Found:
    """Whether simulations conform with the numbers."""
    found = dict(figure4.simulations(results))
    if set(found) != set(SIMULATED):
        return None
    held = [100 * network["coverage"] for network in found.values()]
    return "confirmed", {"least": min(held), "most": max(held)}


def observing(results: Sequence[Result]) -> Found:
    """Whether observing once every 1,000 events is right."""
    rows = figure4.estimators(results)
    if not rows:
        return None
    return "bounded", {
        "bias": max(row["expected_bias"] for row in rows),
        "worst": max(row["expected_bias"] / row["deviation_after_events"] for row in rows),
    }


def _as_printed(result: Result) -> bool:
    return bool(result["method"] != "lrnn" and result["rates"] == "free")


JUDGES: dict[str, Callable[..., Found]] = {
    judge.__name__: judge
    for judge in (
        constraints, unit_rates, converges, lowest_error, alike, stability, both_at_once, uci,
        table1, recognises, spiking, as_simulated, conforms, observing,
    )
}  # fmt: skip
"""What judges by results, by the name that claims.toml has for it."""
