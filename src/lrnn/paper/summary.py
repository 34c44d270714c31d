"""What came out of the experiments, as tables."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lrnn.datasets import DATA_SETS
from lrnn.paper.experiments import CONTENDERS, STRUCTURES
from lrnn.report.content import hoyer

Result = dict[str, Any]


def trainings(results: Iterable[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """Results of all seeds by structure, rates and method."""
    found: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result["kind"] == "training":
            found[result["subject"], result["rates"], result["method"]].append(result)
    return dict(found)


def lowest_errors(results: Sequence[Result], rates: str) -> list[dict[str, Any]]:
    """One row for each structure: the paper, its algorithm here, ours, and what is possible.

    Errors are the mean over seeds, with the standard deviation where there are several.
    """
    found = trainings(results)
    rows = []
    for name, structure in STRUCTURES.items():
        printed, ours = (found.get((name, rates, method)) for method in ("printed", "lrnn"))
        if not printed or not ours:
            continue
        rows.append(
            {
                "data": DATA_SETS[structure.data].title,
                "structure": structure.label,
                "figure": structure.figure,
                "paper": structure.paper if rates == "free" else None,
                "printed": mean(printed, "error"),
                "printed_spread": spread(printed, "error"),
                "printed_iterations": printed[0]["iterations"],
                "printed_seconds": mean(printed, "seconds"),
                "lrnn": mean(ours, "error"),
                "lrnn_spread": spread(ours, "error"),
                "lrnn_seconds": mean(ours, "seconds"),
                "bound": ours[0]["bound"],
                "variance": ours[0]["variance"],
                "seeds": len(ours),
                "quick": ours[0]["quick"],
                "remark": remark(structure.name, printed, ours) if rates == "free" else "",
            }
        )
    return rows


def remark(name: str, printed: Sequence[Result], ours: Sequence[Result]) -> str:
    """Why numbers differ from the paper's, if they do by more than their spread."""
    structure = STRUCTURES[name]
    if structure.paper is None:
        return ""
    apart = []
    for what, results in (("the printed algorithm's", printed), ("ours", ours)):
        error, width = mean(results, "error"), max(spread(results, "error") or 0.0, 5e-5)
        if abs(error - structure.paper) > width:
            side = "lower" if error < structure.paper else "higher"
            apart.append(f"{what} is {side}")
    if not apart:
        return ""
    return f"{' and '.join(apart)} than the paper's: {structure.remark}"


def audits(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each way of training each structure: is the network valid? The worst seed."""
    return [
        {
            "structure": f"{DATA_SETS[STRUCTURES[name].data].title} {STRUCTURES[name].label}",
            "method": method,
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
    """One row for each data set and classifier, one column for each kind of features."""
    rows = []
    for result in results:
        if result["kind"] != "recognition":
            continue
        for classifier in dict.fromkeys(r["classifier"] for r in result["results"]):
            row = {
                "data": DATA_SETS[result["subject"]].title,
                "width": result["width"],
                "classifier": classifier,
                "how": result["how"],
                "quick": result["quick"],
            }
            for found in result["results"]:
                if found["classifier"] == classifier:
                    row[found["features"]] = found["accuracy"]
                    row[f"{found['features']}_spread"] = found["spread"]
            rows.append(row)
    return rows


def inhibition(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each contender: errors on rows it has learnt and on new ones, and spikes."""
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
        }
        for result in contests(results)
    ]


def inhibition_and_sparsity(results: Iterable[Result]) -> list[dict[str, Any]]:
    """The same rows, with how sparse the parts are, and what each makes alone."""
    found = contests(results)
    rows = inhibition(found)
    for row, result in zip(rows, found, strict=True):
        for name in ("parts", "alone"):
            parts = result.get(name)
            row[f"sparsity_{name}"] = None if parts is None else hoyer(np.asarray(parts))
    return rows


def robustness(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each contender: errors to the clean image, with a column for each damage.

    The first row is that of the damaged images themselves.
    """
    found = contests(results)
    rows = [{"contender": "the damaged image itself", "none": 0.0} | r["damaged"] for r in found]
    return rows[:1] + [
        {"contender": CONTENDERS[result["method"]].title, "none": result["test_error"]}
        | result["restored"]
        for result in found
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
