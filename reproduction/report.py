"""The report on all experiments of the paper: a page, figures and tables in a folder."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from lrnn.datasets import DATA_SETS
from lrnn.plots.axes import write_figure
from lrnn.report import pictures
from lrnn.report.content import TableOf
from lrnn.report.machine import machine
from lrnn.report.page import render
from lrnn.tables.atomic import write_atomically
from lrnn.tables.documents import json_text
from reproduction import classifiers as comparison
from reproduction import figure4, lowest, verdicts
from reproduction.experiments import (
    AMPLE,
    CLASSIFIERS,
    FEATURES,
    INHIBITION,
    MODEST,
    RECIPES,
    STRUCTURES,
)
from reproduction.figures import CAPTIONS, QUICK, figures
from reproduction.recognition import FINE_TUNE, PASSES, PRINTED, PRINTED_STEPS, STEPS
from reproduction.summary import (
    Result,
    audits,
    classifiers,
    coverage,
    inhibition_and_sparsity,
    lowest_errors,
    recognition,
    robustness,
)


def _counts(passes: dict[str, int]) -> str:
    """Such as ``MNIST 8, Yale 40``, of structures."""
    short = {name: DATA_SETS[STRUCTURES[name].data].title.split()[0] for name in passes}
    return ", ".join(f"{short[name]} {count}" for name, count in passes.items())


DEEP = {name: s for name, s in STRUCTURES.items() if s.deep}
ALGORITHMS = (
    "Deep networks are trained by both of the printed algorithms, for the paper does not say from "
    "which its curves come: by Algorithm 3, all layer pairs together (passes over the data: "
    f"{_counts({name: s.passes for name, s in DEEP.items()})}), and by Algorithm 2, one pair after "
    "the other (passes for each pair: "
    f"{_counts({name: s.passes_layerwise for name, s in DEEP.items()})}; with free rates only, for "
    "it takes long). With one pair both are Algorithm 1."
)
RECOGNISED = (
    "Recognition: a linear classifier (logistic regression on standardised features) and the five "
    "nearest neighbours, on raw attributes and on codes of one width; on the test rows of MNIST "
    "and CIFAR-10, and by 5-fold cross-validation elsewhere. 18 of the 19 data sets have labels. "
    "Liver Disorders has none: the selector in its file only splits the rows in two, and is no "
    "class. NMF is scikit-learn's, and learns from at most 5,000 rows. “Printed” is Algorithm 1 "
    f"(passes over the data: {_counts({n: p for n, p in PRINTED.items() if n not in DEEP})}; some "
    f"{PRINTED_STEPS:,} steps on other data) and, of deep networks, Algorithm 2 (passes for each "
    f"pair: {_counts({n: p for n, p in PRINTED.items() if n in DEEP})}): fewer than in the other "
    "experiments. Our deep networks are built around shallow ones, and have their codes but for "
    f"what a few last passes end to end change ({_counts(FINE_TUNE)}). "
    f"With inhibition spikes are free, or (modest) cost {100 * MODEST:g} % of the excitatory "
    f"network's error per spike; these networks are trained for {PASSES['mnist']} passes over "
    f"MNIST, {PASSES['cifar10']} over CIFAR-10 and some {STEPS} steps on other data only, from "
    "each of two starts."
)
EXPLAINED = [
    "Not in the paper: networks with 50 codes, without inhibition and with it. A spike costs a "
    f"share of the excitatory network's error per spike: {100 * MODEST:g} % (modest), "
    f"{100 * AMPLE:g} % (ample) or nothing (free). Spikes are firings per unit time of the input "
    "and hidden layers, output rates being 1. PCA stands beside them.",
    "Damage: Gaussian noise of that standard deviation, clipped to [0, 1], or pixels set to 0. All "
    "errors are those to the clean image. No network was trained on damaged ones, but for those "
    "that were trained for it: one for each damage, by corruption=.",
    "Parts: components are the excitatory weights of the decoder. With inhibition they are not yet "
    "what a code neuron adds, for inhibition divides it; so beside them is what the network makes "
    "if that neuron alone is excited. Hoyer's sparsity is 0 if all pixels are equal and 1 if one "
    "is not 0.",
]
CLASSIFIED = [
    "Not in the paper: LRNNClassifier, where spikes are free and where they have a price, beside "
    "logistic regression (on standardised attributes), a perceptron (MLPClassifier; standardised, "
    "but for MNIST and CIFAR-10) with a hidden layer of the same width, and the five nearest "
    "neighbours; on attributes in [0, 1] and on codes of the excitatory autoencoder that the paper "
    "has for these data (its smallest). On the test rows of MNIST and CIFAR-10, by 5-fold "
    "cross-validation elsewhere; columns are scaled by the range of the rows to learn from.",
    f"One recipe: {RECIPES['tables'].hidden} hidden neurons for tables and "
    f"{RECIPES['images'].hidden} for images, label_smoothing={RECIPES['tables'].smoothing:g}, "
    f"noise of {RECIPES['tables'].noise:g} on the inputs in training, a price of "
    f"{RECIPES['tables'].price:g}; tables, and their codes, are complement coded (every x beside "
    "1 − x). It was chosen by rows held out of the first fold's training rows of Seeds, Glass, "
    "Ionosphere, Sonar, Pima, Wine, Zoo and Yale (which are test rows of the other folds, so that "
    "these figures may be a little high), of scikit-learn's digits and breast cancer, and of 8,000 "
    "training images each of MNIST and CIFAR-10; the other sets had no part in it. The others "
    "have the settings of scikit-learn, and were not tuned. Passes over MNIST and CIFAR-10 are "
    f"few, for time ({comparison.PASSES['mnist']} and {comparison.PASSES['cifar10']}; the "
    "perceptron has as many, logistic regression "
    f"{comparison.LINEAR_LARGE} iterations); elsewhere there are as many as the classifier takes "
    "by itself.",
    "Firings are those of the input and hidden layers per output spike (geometric mean over new "
    "rows and folds); on codes, of the layers behind these.",
]


TABLES = (
    "verdicts", "lowest_errors", "lowest_errors_unit_rates", "audits", "recognition",
    "figure4_networks", "figure4_errors", "figure4_verdicts", "figure4_estimators", "stalled",
    "inhibition", "inhibition_robustness", "inhibition_coverage", "classifiers",
)  # fmt: skip
FILES = (
    "summary.json", "index.html", "README.md",
    *(f"{name}.csv" for name in TABLES),
    *(f"figures/{name}.{kind}" for name in CAPTIONS for kind in ("png", "svg")),
)  # fmt: skip
"""All that is written, as far as there are results for it."""


def write_reproduction(results: Sequence[Result], folder: Path, command: str) -> Path:
    """Write ``index.html`` and ``README.md``, tables as CSV and JSON, figures as PNG and SVG."""
    summary: dict[str, Any] = {
        "verdicts": verdicts.verdicts(results) if _of_the_paper(results) else [],
        "lowest_errors": lowest_errors(results, "free"),
        "lowest_errors_unit_rates": lowest_errors(results, "unit"),
        "audits": audits(results),
        "recognition": recognition(results),
        "figure4_networks": figure4.networks(results),
        "figure4_errors": figure4.errors(results),
        "figure4_verdicts": figure4.verdicts(results),
        "figure4_estimators": figure4.estimators(results),
        "stalled": lowest.lowest(results),
        "inhibition": inhibition_and_sparsity(results),
        "inhibition_robustness": robustness(results),
        "inhibition_coverage": coverage(results),
        "classifiers": classifiers(results),
        "machine": dict(machine()),
        "command": command,
        "quick": any(result["quick"] for result in results),
    }
    write_atomically(folder / "summary.json", json_text(summary, indent=1).encode())
    for name in TABLES:
        if summary[name]:
            write_atomically(folder / f"{name}.csv", _csv(summary[name]).encode())
    drawn = figures(results)
    for name, figure in drawn.items():
        for kind in ("png", "svg"):
            write_figure(figure, folder / "figures" / f"{name}.{kind}")
    content = _content(results, summary, drawn)
    write_atomically(
        folder / "README.md", _markdown(content, list(drawn)).encode(errors="backslashreplace")
    )
    page = folder / "index.html"
    write_atomically(page, render("reproduction.html", content, "reproduction").encode())
    return page


def _markdown(content: dict[str, Any], drawn: Sequence[str]) -> str:
    lead = [
        *([f"**{content['quick']}.**"] if content["quick"] else []),
        f"Made by `{content['command']}` on {datetime.now(UTC).date().isoformat()}; all "
        f"experiments together took {content['minutes']} minutes.",
        *_in_words(content),
        *(f"{escaped(what)}: {escaped(remark)}." for what, remark in content["remarks"]),
        *(f"{escaped(title)}: {escaped(note)}" for title, note in content["notes"]),
    ]
    names = ("lowest", "lowest_unit", "recognition", "audits")
    claims = [content["verdicts"]] if content["paper"] else []
    tables = [*claims, *(content[k] for k in names), *content["stalled"], *content["figure4"]]
    tables += [*content["inhibition"], content["classifiers"]]
    tables.append(content["facts"])
    figures = [(f"figures/{name}.png", CAPTIONS[name]) for name in drawn]
    return markdown(content["title"], lead, tables, figures)


def markdown(
    title: str, lead: Sequence[str], tables: Iterable[TableOf], figures: Iterable[tuple[str, str]]
) -> str:
    """A document of paragraphs, figures (path and caption) and tables."""
    parts = [f"# {title}", *lead]
    parts += [f"![{escaped(caption)}]({path})\n\n{escaped(caption)}" for path, caption in figures]
    parts += [table_text(table) for table in tables if table.rows]
    return "\n\n".join(parts) + "\n"


def table_text(table: TableOf) -> str:
    r"""A table with its caption.

    >>> print(table_text(TableOf("Errors", ["data", "error"], [["a|b", "0.1"]])))
    **Errors**
    <BLANKLINE>
    | data | error |
    |---|---|
    | a\|b | 0.1 |
    """
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    text = [f"| {' | '.join(map(escaped, line))} |" for line in lines]
    text[1] = f"|{'---|' * len(table.header)}"
    return "\n".join([f"**{escaped(table.caption)}**", "", *text])


def escaped(text: str) -> str:
    """Text that means nothing in Markdown."""
    for mark in ("\\", "|", "<", "*", "_", "`", "["):
        text = text.replace(mark, f"\\{mark}")
    return text


def _in_words(content: dict[str, Any]) -> list[str]:
    """What the tables come to."""
    worse, count = content["worse"], content["count"]
    lead = [content["meant"]] if content["paper"] else []
    if count:
        lead.append(
            f"On {len(worse) or 'none'} of the {count} structures is our error above that of the "
            "printed algorithms, or the paper's where it reports one"
            f"{': ' * bool(worse) + ', '.join(map(escaped, worse))}. The bound for free rates is "
            "what no linear map of that rank can pass; outputs that saturate are not linear, and "
            "may. With ± is the standard deviation over seeds, or between folds."
        )
    if content["algorithms"]:
        lead.append(content["algorithms"])
    if content["recognition"].rows:
        lead.append(RECOGNISED)
    if content["audits"].rows and content["valid"]:
        lead.append(
            "All networks are valid random neural networks: with their firing rates, no neuron's "
            "routing probabilities sum to more than 1."
        )
    lead += content["outlasted"] + content["spiking"]
    if content["inhibition"][0].rows:
        lead += EXPLAINED
    if content["classifiers"].rows:
        lead += [*map(escaped, CLASSIFIED), *content["classified_in_words"]]
    return lead


def _content(
    results: Sequence[Result], summary: dict[str, Any], drawn: dict[str, Figure]
) -> dict[str, Any]:
    used = dict.fromkeys(
        r["subject"] if r["subject"] in DATA_SETS else STRUCTURES[r["subject"]].data
        for r in results
    )
    free = summary["lowest_errors"]
    rivals = ("printed", "printed_layerwise", "paper")
    worse = [r for r in free if r["lrnn"] > min(r[k] for k in rivals if r[k]) + 5e-5]
    paper = _of_the_paper(results)
    return {
        "title": _title(results),
        "paper": paper,
        "quick": QUICK if summary["quick"] else "",
        "command": summary["command"],
        "figures": {
            name: pictures.markup(figure, name, CAPTIONS[name]) for name, figure in drawn.items()
        },
        "captions": CAPTIONS,
        "lowest": _errors("Lowest mean squared errors, free rates", free),
        "lowest_unit": _errors(
            "Lowest mean squared errors, all rates 1", summary["lowest_errors_unit_rates"]
        ),
        "algorithms": ALGORITHMS if any(r["printed_layerwise"] for r in free) else "",
        "remarks": [(f"{r['data']} {r['structure']}", r["remark"]) for r in free if r["remark"]],
        "count": len(free),
        "worse": [f"{r['data']} {r['structure']}" for r in worse],
        "recognition": _recognition(summary["recognition"]),
        "recognised": RECOGNISED,
        "inhibition": [
            _inhibition(summary["inhibition"]),
            _robustness(summary["inhibition_robustness"]),
            _coverage(summary["inhibition_coverage"]),
        ],
        "explained": EXPLAINED,
        "classifiers": _classifiers(summary["classifiers"]),
        "classified": CLASSIFIED,
        "classified_in_words": comparison.in_words(summary["classifiers"]),
        "audits": _audits(summary["audits"]),
        "valid": all(r["valid"] for r in summary["audits"]),
        "verdicts": verdicts.table(results),
        "meant": verdicts.MEANT,
        "stalled": lowest.tables(results),
        "outlasted": lowest.in_words(results),
        "figure4": figure4.tables(results),
        "spiking": figure4.in_words(results),
        "notes": [(DATA_SETS[n].title, DATA_SETS[n].notes) for n in used if DATA_SETS[n].notes],
        "minutes": f"{sum(r['took'] for r in results) / 60:.0f}",
        "facts": TableOf("Versions and machine", ["", ""], [list(f) for f in machine()]),
    }


def _of_the_paper(results: Sequence[Result]) -> bool:
    return any(r["kind"] not in ("inhibition", "robustness", "classifiers") for r in results)


def _title(results: Sequence[Result]) -> str:
    if _of_the_paper(results):
        return "The paper's experiments, run again"
    if any(r["kind"] == "classifiers" for r in results):
        return "Classifiers made of spikes, beside others"
    return "What inhibition is good for"


def _errors(caption: str, rows: Sequence[dict[str, Any]]) -> TableOf:
    names = {"printed": "Algorithm 1 or 3", "printed_layerwise": "Algorithm 2", "lrnn": "lrnn"}
    if all(row["printed_layerwise"] is None for row in rows):
        del names["printed_layerwise"]
    return TableOf(
        caption,
        ["data", "structure", "paper", *names.values(), "bound", "variance",
         *(f"seconds, {name}" for name in names.values())],
        [
            [
                row["data"],
                row["structure"],
                "–" if row["paper"] is None else f"{row['paper']:.4f}",
                *(_spread(row[name], row[f"{name}_spread"], 5) for name in names),
                f"{row['bound']:.5f}",
                f"{row['variance']:.5f}",
                *(_spread(row[f"{name}_seconds"], None, 1) for name in names),
            ]
            for row in rows
        ],
    )  # fmt: skip


def _recognition(rows: Sequence[dict[str, Any]]) -> TableOf:
    return TableOf(
        "Accuracy in percent",
        ["data", "structure", "classifier", *(name.replace("_", ", ") for name in FEATURES)],
        [
            [
                row["data"],
                row["structure"],
                row["classifier"],
                *(_spread(row[name], row[f"{name}_spread"], 1, 100) for name in FEATURES),
            ]
            for row in rows
        ],
    )


def _classifiers(rows: Sequence[dict[str, Any]]) -> TableOf:
    spiking = ("spikes", "spikes_priced")
    return TableOf(
        "Accuracy of classifiers in percent, and firings per output spike",
        ["data", "seen", *CLASSIFIERS.values(), "firings, spikes are free", "firings, at a price"],
        [
            [
                row["data"],
                row["features"],
                *(_spread(row[name], row[f"{name}_spread"], 1, 100) for name in CLASSIFIERS),
                *(_quantity(row[f"{name}_firings"]) for name in spiking),
            ]
            for row in rows
        ],
    )


def _audits(rows: Sequence[dict[str, Any]]) -> TableOf:
    return TableOf(
        "Every network that was trained (the worst seed)",
        ["network", "trained by", "rates", "largest row sum of weights", "largest Σ probabilities",
         "steady state − forward pass", "spikes", "valid"],
        [
            [
                row["structure"],
                row["algorithm"],
                row["rates"],
                f"{row['largest_row_sum']:.3f}",
                f"{row['largest_routed']:.6f}",
                f"{row['steady_state_gap']:.0e}",
                f"{row['spikes']:,.1f}",
                "yes" if row["valid"] else "NO",
            ]
            for row in rows
        ],
    )  # fmt: skip


def _inhibition(rows: Sequence[dict[str, Any]]) -> TableOf:
    return TableOf(
        f"MNIST {STRUCTURES[INHIBITION].label}: mean squared errors, spikes and parts",
        ["", "train", "test", "a spike costs", "spikes", "highest rate",
         "Hoyer's sparsity of components", "of what they make alone", "valid", "seconds"],
        [
            [
                row["contender"],
                f"{row['train']:.5f}",
                f"{row['test']:.5f}",
                _quantity(row["spike_penalty"]),
                _quantity(row["spikes"]),
                _quantity(row["highest_rate"]),
                _sparsity(row["sparsity_parts"]),
                _sparsity(row["sparsity_alone"]),
                {True: "yes", False: "NO", None: "–"}[row["valid"]],
                f"{row['seconds']:.0f}",
            ]
            for row in rows
        ],
    )  # fmt: skip


def _robustness(rows: Sequence[dict[str, Any]]) -> TableOf:
    names = list(rows[0])[1:] if rows else []
    return TableOf(
        "Mean squared error to the clean image, test rows",
        ["damage", *names],
        [
            [row["contender"], *("–" if row[n] is None else f"{row[n]:.4f}" for n in names)]
            for row in rows
        ],
    )


def _coverage(rows: Sequence[dict[str, Any]]) -> TableOf:
    names = [name.removesuffix("_held") for name in (rows or [{}])[0] if name.endswith("_held")]

    def held(row: dict[str, Any], layer: str) -> str:
        inside, count = row[f"{layer}_held"], row[f"{layer}_neurons"]
        return f"{inside} of {count} ({100 * inside / max(count, 1):.0f} %)"

    return TableOf(
        "Simulation: 95 % confidence intervals that hold the numeric value, of the neurons that "
        "are at work and do not saturate; and root mean square errors",
        ["network", "events", *names, *(f"RMSE, {name}" for name in names)],
        [
            [
                row["contender"],
                f"{row['events']:,}",
                *(held(row, name) for name in names),
                *(f"{row[f'{name}_rmse']:.4f}" for name in names),
            ]
            for row in rows
        ],
    )


def _spread(value: float | None, width: float | None, digits: int, times: float = 1) -> str:
    """Such as 0.01342 ± 0.00052; a dash where there is none."""
    if value is None:
        return "–"
    shown = f"{times * value:.{digits}f}"
    return shown if width is None else f"{shown} ± {times * width:.{digits}f}"


def _sparsity(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _quantity(value: float | None) -> str:
    """Such as 1,234 or 3.5e+19; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == 0 or 100 <= value < 1e7 else f"{value:.2g}"


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
