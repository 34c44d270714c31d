"""What came out of the experiments, as tables."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lrnn.datasets import DATA_SETS
from reproduction.experiments import (
    CLASSIFIERS,
    CONTENDERS,
    FEATURES,
    FOR_DAMAGE,
    METHODS,
    SEEN_BY,
    STRUCTURES,
)

Result = dict[str, Any]
LONGER = (
    "the paper says neither how long it trains nor how it draws its first weights; our solver "
    "works on all rows at once and goes on until the error stalls"
)
PARTS = ("parts", "alone")


def trainings(results: Iterable[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """Results of all seeds by structure, rates and method."""
    found: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result["kind"] == "training":
            found[result["subject"], result["rates"], result["method"]].append(result)
    return dict(found)


def lowest_errors(results: Sequence[Result], rates: str) -> list[dict[str, Any]]:
    """One row for each structure: the paper, its algorithms here, ours, and what is possible.

    Errors are the mean over seeds, with the standard deviation where there are several. "printed"
    is Algorithm 1 or 3; "printed_layerwise" is Algorithm 2, None where it was not run.
    """
    found = trainings(results)
    rows = []
    for name, structure in STRUCTURES.items():
        ways = {m: found[name, rates, m] for m in METHODS if (name, rates, m) in found}
        if not ways.keys() >= {"printed", "lrnn"}:
            continue
        ours = ways["lrnn"]
        row: dict[str, Any] = {
            "data": DATA_SETS[structure.data].title,
            "structure": structure.label,
            "figure": structure.figure,
            "paper": structure.paper if rates == "free" else None,
        }
        for method in METHODS:
            column, way = method.replace("-", "_"), ways.get(method)
            row |= {
                column: mean(way, "error") if way else None,
                f"{column}_spread": spread(way, "error") if way else None,
                f"{column}_iterations": way[0]["iterations"] if way else None,
                f"{column}_seconds": mean(way, "seconds") if way else None,
            }
        row |= {name: ours[0][name] for name in ("bound", "variance", "quick")}
        row |= {"seeds": len(ours), "remark": remark(name, ways) if rates == "free" else ""}
        rows.append(row)
    return rows


def remark(name: str, ways: Mapping[str, Sequence[Result]]) -> str:
    """Why numbers differ from the paper's, if they do by more than their spread."""
    structure = STRUCTURES[name]
    if structure.paper is None:
        return ""
    apart = []
    for method, results in ways.items():
        what = "ours" if method == "lrnn" else f"{structure.algorithm(method)}'s"
        error, width = mean(results, "error"), max(spread(results, "error") or 0.0, 5e-5)
        if abs(error - structure.paper) > width:
            side = "lower" if error < structure.paper else "higher"
            apart.append(f"{what} is {side}")
    if not apart:
        return ""
    return f"{' and '.join(apart)} than the paper's: {LONGER}"


def audits(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each way of training each structure: is the network valid? The worst seed."""
    return [
        {
            "structure": f"{DATA_SETS[STRUCTURES[name].data].title} {STRUCTURES[name].label}",
            "method": method,
            "algorithm": STRUCTURES[name].algorithm(method),
            "rates": rates,
            "largest_row_sum": max(r["largest_row_sum"] for r in found),
            "largest_routed": max(r["largest_routed"] for r in found),
            "steady_state_gap": max(r["steady_state_gap"] for r in found),
            "spikes": mean(found, "spike_cost"),
            "valid": all(r["valid"] for r in found),
        }
        for (name, rates, method), found in trainings(results).items()
    ]


def recognition(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each structure and classifier, one column for each kind of features.

    None where there are no such features: of deep structures, but for the networks themselves.
    """
    rows = []
    for result in results:
        if result["kind"] != "recognition":
            continue
        found = {(r["structure"], r["classifier"], r["features"]): r for r in result["results"]}
        for name, classifier in dict.fromkeys(key[:2] for key in found):
            row = {
                "data": DATA_SETS[result["subject"]].title,
                "structure": STRUCTURES[name].label,
                "width": result["width"],
                "classifier": classifier,
                "how": result["how"],
                "quick": result["quick"],
            }
            for features in FEATURES:
                score = found.get((name, classifier, features), {})
                row[features] = score.get("accuracy")
                row[f"{features}_spread"] = score.get("spread")
            rows.append(row)
    return rows


def classifiers(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each data set and what is seen of it, one column for each classifier.

    Of those made of spikes there are also firings per output spike.
    """
    rows = []
    for result in results:
        if result["kind"] != "classifiers":
            continue
        found = {(r["features"], r["classifier"]): r for r in result["results"]}
        for features, seen in SEEN_BY.items():
            row = {
                "data": DATA_SETS[result["subject"]].title,
                "features": seen,
                "how": result["how"],
                "quick": result["quick"],
            }
            for name in CLASSIFIERS:
                score = found[features, name]
                row |= {name: score["accuracy"], f"{name}_spread": score["spread"]}
                if score["firings"] is not None:
                    row[f"{name}_firings"] = score["firings"]
            rows.append(row)
    return rows


def inhibition(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each contender: errors on rows it has learnt and on new ones, spikes, sparsity.

    That is how sparse its parts are, and what each makes alone.
    """
    return [
        {
            "contender": CONTENDERS[result["method"]].title,
            "train": result["error"],
            "test": result["test_error"],
            "spike_penalty": result.get("spike_penalty"),
            "spikes": result.get("spike_cost"),
            "highest_rate": result.get("highest_rate"),
            "valid": result.get("valid"),
            "seconds": result["seconds"],
            "quick": result["quick"],
            **{f"sparsity_{n}": hoyer(result[n]) if n in result else None for n in PARTS},
        }
        for result in contests(results)
    ]


def hoyer(rows: Any) -> float:
    """Hoyer's measure of rows, averaged: 0 if all of a row's values are equal, 1 if one is not 0.

    >>> hoyer([[0.0, 3.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    0.5
    """
    values = np.asarray(rows)
    root = np.sqrt(values.shape[1])
    lengths = np.sqrt((values**2).sum(axis=1))
    seen = lengths > 0
    ratio = values[seen].sum(axis=1) / lengths[seen]
    return float(np.mean((root - ratio) / (root - 1))) if seen.any() else 0.0


def robustness(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each contender: errors to the clean image, with a column for each damage.

    The first row is that of the damaged images themselves. There is a network for each damage in
    the rows of those that were trained for it, and so none for no damage.
    """
    results = list(results)
    found = contests(results)
    rows = [{"contender": "the damaged image itself", "none": 0.0} | r["damaged"] for r in found]
    return [
        *rows[:1],
        *(
            {"contender": CONTENDERS[result["method"]].title, "none": result["test_error"]}
            | result["restored"]
            for result in found
        ),
        *(
            {"contender": FOR_DAMAGE[result["method"]].title, "none": None} | result["restored"]
            for result in results
            if result["kind"] == "robustness"
        ),
    ]


def coverage(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each network and moment: how near each layer of the simulation is.

    Of the neurons at work, so many 95 % confidence intervals hold the numeric value.
    """
    rows = []
    for result in contests(results):
        spiking = result.get("spiking", {"coverage_of_layers": {}})
        for moment, layers in spiking["coverage_of_layers"].items():
            row = {"contender": CONTENDERS[result["method"]].title, "events": int(moment)}
            for i, name in enumerate(spiking["layers"]):
                row[f"{name}_neurons"] = layers[i]["neurons"]
                row[f"{name}_held"] = layers[i]["held"]
                row[f"{name}_rmse"] = spiking["rmse"][moment][i]
            rows.append(row)
    return rows


def contests(results: Iterable[Result]) -> list[Result]:
    """Results of contenders, where inhibition is the question."""
    return [result for result in results if result["kind"] == "inhibition"]


def mean(results: Sequence[Result], what: str) -> float:
    """Over seeds."""
    return float(sum(r[what] for r in results) / len(results))


def spread(results: Sequence[Result], what: str) -> float | None:
    """Standard deviation over seeds, if there are several."""
    if len(results) < 2:
        return None
    middle = mean(results, what)
    return float((sum((r[what] - middle) ** 2 for r in results) / (len(results) - 1)) ** 0.5)
