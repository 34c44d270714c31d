"""The measured tables of docs/, made from what is in benchmarks/results.

    python benchmarks/measured_tables.py            # write them, and tell which have changed
    python benchmarks/measured_tables.py --check    # only tell

The rows of a table that has ``<!-- measured: NAME -->`` before it are what `TABLES[NAME]` makes of
the results: nobody copies figures. tests/test_documentation.py holds the pages to it.
"""

import argparse
import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from common import RESULTS, console, known

DOCS = Path(__file__).parents[1] / "docs"
MARK = re.compile(r"<!-- measured: (?P<name>\w+) -->\n(?P<header>\|.*\n\|[-|]+\|\n)(?:\|.*\n)*")
Cells = Iterable[Sequence[str]]
TABLES: dict[str, Callable[[], Cells]] = {}


def table(rows: Callable[[], Cells]) -> Callable[[], Cells]:
    """A function that gives the rows of a table; its name is the table's."""
    TABLES[rows.__name__] = rows
    return rows


def significant(value: float | None, digits: int = 3) -> str:
    """So many digits, thousands with commas, never an exponent."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    places = max(
        digits - len(f"{abs(value):.0f}") if abs(value) >= 1 else _places(value, digits), 0
    )
    return f"{value:,.{places}f}"


def _places(value: float, digits: int) -> int:
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
    return digits - 1 - exponent


def rounded(value: float, digits: int = 3) -> str:
    """A large number, of which only the first digits are known."""
    return f"{float(f'{value:.{digits}g}'):,.0f}"


def times(value: float) -> str:
    """How many times faster something is: two digits, or all before the point."""
    return significant(value, 2) if value < 100 else f"{value:,.0f}"


def power(value: float, digits: int = 1) -> str:
    """A large number, or a small one, as 3·10⁻⁷."""
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    raised = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if float(mantissa) == 1 else f"{mantissa}·{raised}"


def count(value: float, largest: float = 1e7) -> str:
    """A number of spikes or events."""
    return f"{value:,.0f}" if value < largest else power(value)


def percent(share: float, digits: int = 2) -> str:
    """A share."""
    return f"{significant(100 * share, digits)} %"


def marked(
    values: Sequence[float | None], shown: Sequence[str], best: Callable[..., Any] = min
) -> list[str]:
    """What is shown of some values, the best of them (as shown) in bold."""
    winner = best(
        ((v, s) for v, s in zip(values, shown, strict=True) if v is not None),
        key=lambda pair: pair[0],
    )[1]
    return [
        f"**{s}**" if v is not None and s == winner else s
        for v, s in zip(values, shown, strict=True)
    ]


def once(rows: Cells) -> Cells:
    """A first cell that is that of the row before stands there once."""
    before = None
    for first, *others in rows:
        yield ["" if first == before else first, *others]
        before = first


def said(name: str) -> str:
    """The name of a data set."""
    return name.replace("_", " ")


def by(rows: Iterable[dict[str, Any]], *keys: str) -> dict[Any, dict[str, Any]]:
    """Rows by what they have under these keys."""
    if len(keys) == 1:
        return {row[keys[0]]: row for row in rows}
    return {tuple(row[key] for key in keys): row for row in rows}


# --- performance, choosing --------------------------------------------------------------------


def solvers(name: str) -> Cells:
    """lrnn, then others."""
    rows = known(name)
    for row in sorted(rows, key=lambda r: not r[""].startswith("lrnn")):
        there = row.get("lrnn there after s")
        yield (
            row[""].replace("lrnn,", "**`lrnn`**,"),
            f"{row['seconds']:.1f}",
            f"{row['error']:.4f}",
            "" if there is None else f"{there:.2f} s",
            "" if there is None else f"{row['times faster']:.0f}",
        )


@table
def gram_solver_100() -> Cells:
    return solvers("gram_solver_100")


@table
def gram_solver_50() -> Cells:
    return solvers("gram_solver_50")


@table
def small() -> Cells:
    for row in known("small"):
        yield (
            said(row[""]),
            significant(row["NMF, ms"], 2),
            significant(row["its error"], 4),
            significant(row["lrnn there after, ms"], 2),
            significant(row["lrnn, ms"], 2),
            significant(row["its error "], 4),
            significant(row["start-up, ms"], 2),
        )


@table
def busy() -> Cells:
    rows = by(known("busy"), "", "other processes")
    for what in dict.fromkeys(name for name, _ in rows):
        size = rows[what, 0]["size"]
        yield f"{what}, {size}", *(f"{rows[what, n]['times as long']:.2f}" for n in range(3))


@table
def encoding() -> Cells:
    for row in known("encoding"):
        times = row.get("times faster than NMF.transform")
        yield (
            row[""],
            f"{row['bare product s']:.3f}",
            f"{row['transform s']:.3f}",
            row["share of the bare speed"],
            "–" if times is None else f"{times:.0f}",
        )


@table
def memory() -> Cells:
    for row in known("memory"):
        yield row[""], f"{row['peak MB']:.0f}"


def text(name: str, memory: bool = True) -> Cells:
    """NMF and lrnn on a corpus, by one thread and by two."""
    rows = by(known(f"sparse_text_{name}"), "", "threads")
    names = list(dict.fromkeys(what for what, _ in rows))
    soon = next(n for n in names if n.startswith("lrnn, to"))
    steps = int(re.search(r"\((\d+) steps\)", soon)[1])  # type: ignore[index]
    shown = {
        "NMF, 10 iterations": "NMF (cd), 10 iterations",
        soon: f"**`lrnn`**, to that error ({steps} step{'s' if steps > 1 else ''})",
        "NMF, 20 iterations": "NMF (cd), 20 iterations",
        "lrnn": "**`lrnn`**, default",
    }
    for what, title in shown.items():
        seconds = [f"{significant(rows[what, n]['seconds'])} s" for n in (1, 2)]
        more = [f"{rows[what, 1]['MB above the input']:.0f}"] if memory else []
        yield title, *seconds, rows[what, 1]["error"], *more


@table
def sparse_text_manual() -> Cells:
    return text("manual")


@table
def sparse_text_python() -> Cells:
    return text("python")


@table
def sparse_text_bible() -> Cells:
    return text("bible")


@table
def sparse_text_synthetic() -> Cells:
    return text("synthetic", memory=False)


TEXTS = {
    "manual": "manual pages",
    "python": "Python's documentation",
    "bible": "King James Bible, verses",
    "synthetic": "synthetic",
}


@table
def sparse_text_sizes() -> Cells:
    for name, title in TEXTS.items():
        measured = json.loads((RESULTS / f"sparse_text_{name}.json").read_text())["title"]
        rows, terms, nonzeros, *_ = re.findall(r"[\d,]+\d", measured)
        yield title, rows, terms, nonzeros


@table
def sparse_text_widths() -> Cells:
    titles = {name: title for name, title in TEXTS.items() if name != "synthetic"}
    rows = known("sparse_text_widths")
    cells = []
    for corpus, codes in dict.fromkeys((r["corpus"], r["codes"]) for r in rows):
        found = {
            r[""].partition(" (")[0]: r
            for r in rows
            if (r["corpus"], r["codes"]) == (corpus, codes)
        }
        ten, twenty, ours = (found[w] for w in ("NMF, 10 iterations", "NMF, 20 iterations", "lrnn"))
        soon = found.get("lrnn, to the error of 10 iterations")
        above = round(1e5 * (float(ours["error"]) - float(twenty["error"])))
        shown = [f"{r['error']}, {r['least']:.2f} s" for r in (ten, twenty, ours)]
        shown.insert(1, f"{soon['least']:.2f} s" if soon else "not reached")
        refined = found["lrnn, refine=1"]["error"]
        cells.append((titles[corpus], str(codes), *shown, f"{above:+d}".replace("-", "−"), refined))
    return once(cells)


@table
def sketches() -> Cells:
    for row in known("sketches_manual"):
        yield row[""], f"{row['seconds']:.1f}", f"{row['read']} times", row["error"]


@table
def sharpening() -> Cells:
    for row in known("sharpening"):
        errors = [
            f"{row[key]:.4g}" for key in ("power 2", "power 4", "power 8", "power 16", "chosen")
        ]
        yield row["data"], row["rows × attributes → hidden"], *errors, row["regret"]


def beside(kind: str, columns: dict[str, Callable[[Any], str]]) -> Cells:
    """What side_by_side.py has measured; ours come first, and are bold."""
    for row in known(f"side_by_side_{kind}"):
        ours = row["contender"].startswith("lrnn")
        title = row["title"].replace("lrnn", "**`lrnn`**") if ours else row["title"]
        yield title, *("" if row.get(c) is None else show(row[c]) for c, show in columns.items())


FIGURES: dict[str, Callable[[Any], str]] = {
    "seconds": significant,
    "error": "{:.4f}".format,
    "lrnn_seconds": significant,
    "times_faster": significant,
}


@table
def side_by_side_fit() -> Cells:
    return beside("fit", {"iterations": "{:,}".format, **FIGURES})


@table
def side_by_side_encode() -> Cells:
    columns = {"seconds": significant, "rows_per_second": rounded, "error": FIGURES["error"]}
    return beside("encode", {"rows": "{:,}".format, **columns, "times_faster": times})


@table
def side_by_side_simulate() -> Cells:
    columns = {"seconds": significant, "events_per_second": rounded, "times_faster": rounded}
    return beside("simulate", {"events": "{:,}".format, **columns})


@table
def side_by_side_scale() -> Cells:
    return beside("scale", {"rows": "{:,}".format, "attributes": "{:,}".format, **FIGURES})


# --- codes, moments, missing cells, corrupted rows, streams, starts, widths ---------------------


@table
def codes() -> Cells:
    shares = "network", "refine=1", "refine=3", "3 alternations", "20 alternations"
    for row in known("codes"):
        peer = row["NMF's error"]
        yield said(row[""]), f"{peer:.5f}", *(f"{row[s]:.2f}" for s in shares)


@table
def factors() -> Cells:
    for row in known("factors"):
        name = re.sub("factorize|refine=1", r"`\g<0>`", row[""]).replace(
            " 1 alternations", " 1 alternation"
        )
        more = " more" if "refine" in name else ""
        yield name, f"{row['error']:.5f}", f"{row['seconds']:.1f}{more}"


@table
def moments() -> Cells:
    rows = [row for row in known("moments") if not row[""].startswith("fit:")]
    names = {
        "XᵀX in float32, as fit on rows takes it": "XᵀX in float32, as `fit(X)` takes it",
        "Moment.of, in float64": "`Moment.of`, in float64",
        "a + b": "`a + b`",
        "load_moment": "`load_moment`",
    }
    cells = [(names.get(r[""], r[""]), significant(r["seconds"], 2)) for r in rows]
    for left, right in zip(cells[:3], cells[3:], strict=True):
        yield *left, *right


@table
def moments_fits() -> Cells:
    names = {
        "fit: rows": "fit on 60,000 rows",
        "fit: moment": "fit on their moment",
        "fit: six sites pooled": "… of six sites, merged",
        "fit: rows without 1,000": "fit on 59,000 rows",
        "fit: 1,000 rows forgotten": "fit after 1,000 were forgotten",
    }
    for row in known("moments"):
        if row[""] in names:
            off = row["largest difference"]
            yield (
                names[row[""]],
                f"{row['seconds']:.1f}",
                *(f"{row[e]:.5f}" for e in ("reconstruction_err_", "error", "test error")),
                f"{off:.0e}" if off else "",
            )


@table
def missing() -> Cells:
    names = {"wall_following": "wall-following", "parkinsons": "Parkinson's"}
    for row in known("missing"):
        errors = [
            row["lrnn"],
            min(row["masked NMF"], row["masked NMF, fewer parts"]),
            row["KNNImputer"],
            row["IterativeImputer"],
            row["column means"],
        ]
        errors = [e if isinstance(e, float) else None for e in errors]
        shown = ["" if e is None else f"{e:.4f}" for e in errors]
        yield names.get(row[""], row[""]), *marked(errors, shown)


@table
def robustness() -> Cells:
    names = {"mask 0.5": "half of the pixels missing", "mask 0.75": "three quarters missing"}
    columns = "lrnn", "for it", "inhibition", "PCA", "NMF", "best linear"
    for row in known("robustness"):
        errors = [row.get(c) for c in columns]
        yield (
            names.get(row["corruption"], row["corruption"]),
            *marked(errors, [f"{e:.4f}" for e in errors]),
        )


@table
def robustness_small() -> Cells:
    columns = "lrnn", "for it", "PCA", "NMF", "best linear"
    rows = known("robustness_small")
    least = {d: min(r["lrnn"] for r in rows if r["data"] == d) for d in {r["data"] for r in rows}}
    digits = {data: 6 if error < 0.001 else 4 for data, error in least.items()}
    return once(
        (r["data"], r["corruption"], *(f"{r[c]:.{digits[r['data']]}f}" for c in columns))
        for r in rows
    )


STREAMS = {
    "images": ("MNIST →100", "MNIST 784→100, parts of 500", 4, None),
    "tables": ("digits →32", "digits 64→32, parts of 100", 4, 500),
    "tables ": ("wall-following →12", "wall-following 24→12, parts of 100", 4, 1000),
    "text": ("text →50", "text 4,000→50, parts of 500 (relative)", 3, None),
}


@table
def streams() -> Cells:
    for file, (stream, title, digits, left_out) in STREAMS.items():
        rows = by(
            [r for r in known(f"streams_{file.strip()}") if r["stream"] == stream],
            "rows seen",
            "method",
        )
        first = title
        for seen in dict.fromkeys(n for n, _ in rows):
            if seen == left_out:
                continue
            found = [rows[seen, m] for m in ("lrnn", "MiniBatchNMF", "lrnn, as printed")]
            errors = [r["error"] for r in found]
            shown = marked(errors, [f"{e:.{digits}f}" for e in errors])
            yield (
                first,
                f"{seen:,}",
                *(
                    f"{s} ({significant(r['seconds'], 2)} s)"
                    for s, r in zip(shown, found, strict=True)
                ),
            )
            first = ""


@table
def drift() -> Cells:
    names = {
        "lrnn": "`partial_fit`",
        "lrnn, forget=3300": "`partial_fit`, `forget=3300`",
        "lrnn, as printed": "as printed",
    }
    rows = known("streams_drift")
    last = [r for r in rows if r["rows seen"] == max(r["rows seen"] for r in rows)]
    columns = [
        marked([r[c] for r in last], [f"{r[c]:.4f}" for r in last])
        for c in ("error on 0–4", "error on 5–9")
    ]
    for row, old, new in zip(last, *columns, strict=True):
        yield names.get(row["method"], row["method"]), old, new, f"{row['seconds']:.1f}"


@table
def unmixing() -> Cells:
    names = {"none pure": "no pixel purer than 0.8, 30 dB"}
    return once(
        (names.get(r["scene"], r["scene"]), r["start"], r["error"], r["angle"])
        for r in known("starts_unmixing")
    )


@table
def widths() -> Cells:
    columns = "tried", "lrnn.widths", "NMF", "score", "score_entries"
    for row in known("widths"):
        yield row["data"], *(str(row[c]) for c in columns)


# --- deep networks, inhibition, unit rates, the algorithms as printed ---------------------------


@table
def saturation() -> Cells:
    for row in known("saturation"):
        errors = [
            f"{row[c]:.4f}" for c in ("error at the start", "after 6 passes", "if they were linear")
        ]
        yield row[""], *errors[:2], row["hidden saturated"], errors[2]


@table
def lowest_errors() -> Cells:
    for row in known("lowest_errors"):
        new = row["on test images"]
        yield (
            row[""],
            str(row["end-to-end passes"]),
            f"{row['error']:.5f}",
            "–" if new is None else f"{new:.5f}",
            row["hidden saturated"],
            f"{row['if they were linear']:.4f}",
        )


@table
def depth_look() -> Cells:
    for row in known("depth_look"):
        if "weights" in row:
            yield (
                row["weights"],
                f"{row['spikes']:.0f}",
                percent(row["inhibitory"], 1),
                percent(row["saturated"], 1),
                f"{row['neurons that excite one']:.0f}",
                f"{row['error without saturation']:.4f}",
                f"{row['error without inhibition']:.4f}",
            )


@table
def depth_quick() -> Cells:
    names = "784→50 (quick)", "784→300→50 (quick)", "784→50→300→784 (quick)"
    rows = known("depth_cpu")
    prices = {None: "excitatory", 1e-6: "10⁻⁶ a spike", 3e-7: "3·10⁻⁷", 1e-7: "10⁻⁷", 0.0: "free"}
    for price, title in prices.items():
        found = [
            min(
                (r for r in rows if r["what"] == n and r.get("penalty", "") == price),
                key=lambda r: r["train"],
            )
            for n in names
        ]
        shown = [
            f"{r['train']:.4f}" + (f" at {r['spikes']:,.0f}" if price != 0 else "") for r in found
        ]
        yield title, *(marked([r["train"] for r in found], shown) if price else shown)
    yield (
        "seconds, one core",
        *(
            f"{next(r for r in rows if r['what'] == f'{n}, all of it')['seconds']:.0f}"
            for n in names
        ),
    )


@table
def frontier() -> Cells:
    rows = [r for r in known("inhibition_cuda") if r["group"] == "frontier"]
    svd = next(r["train"] for r in rows if r["what"] == "784→50, truncated SVD")
    lowest: list[dict[str, Any]] = []
    for row in sorted((r for r in rows if "spikes" in r), key=lambda r: r["spikes"]):
        if (
            row["what"].endswith("excitatory")
            or not lowest
            or row["train"] < 0.97 * lowest[-1]["train"]
        ):
            lowest.append(row)
    linear = min(lowest, key=lambda r: abs(r["train"] - svd))
    for row in lowest:
        note = "excitatory, trained end to end" if row["what"].endswith("excitatory") else ""
        note = "spikes are free" if "free" in row["what"] else note
        note = "as low as any linear map of rank 50 can be" if row is linear else note
        yield count(row["spikes"], 1e8), f"{row['train']:.4f}", f"{row['test']:.4f}", note


SINGLE = {
    "784→50, excitatory": "MNIST 784→50, excitatory",
    "784→50, free": "free",
    "784→50, 1e-6 a spike": "10⁻⁶ a spike",
    "784→50, 1e-7 a spike": "10⁻⁷ a spike",
    "784→50, truncated SVD": "no linear map of rank 50 is below",
    "784→100, free": "MNIST 784→100, free",
    "784→100, truncated SVD": "no linear map of rank 100 is below",
    "784→1000→500→250→50, excitatory": "MNIST 784→1000→500→250→50, excitatory",
    "784→1000→500→250→50, free": "free",
    "784→1000→500→250→50, free, 1 passes": "free, one pass",
    "784→1000→500→250→50, 3e-8 a spike": "3·10⁻⁸ a spike",
    "784→1000→500→250→50, 3e-8 a spike, 1 passes": "3·10⁻⁸ a spike, one pass",
    "3072→150, excitatory": "CIFAR-10 3072→150, excitatory",
    "3072→150, free": "free",
    "3072→150, free, 1 passes": "free, one pass",
    "3072→150, 1e-9 a spike": "10⁻⁹ a spike",
    "3072→150, truncated SVD": "no linear map of rank 150 is below",
}


@table
def inhibition() -> Cells:
    def single(name: str) -> dict[str, dict[str, Any]]:
        rows = known(name)
        bounds = [r for r in rows if r["what"].endswith("SVD")]
        return by(
            [*bounds, *(r for r in rows if r.get("seconds") and r["group"] != "frontier")], "what"
        )

    gpu, cpu = single("inhibition_cuda"), single("inhibition_cpu")
    for what, title in SINGLE.items():
        row = gpu.get(what) or cpu[what]
        seconds = [significant(d[what].get("seconds"), 2) if what in d else "" for d in (gpu, cpu)]
        if what.endswith("SVD"):
            yield title, f"{row['train']:.4f}", "", "", "", ""
        else:
            yield title, f"{row['train']:.4f}", f"{row['test']:.4f}", count(row["spikes"]), *seconds


@table
def inhibition_everywhere() -> Cells:
    for row in known("inhibition_everywhere"):
        errors = [row[c] for c in ("tuned", "svd", "free", "modest")]
        shown = [f"{e:.5f}" if e < 0.001 else f"{e:.4f}" for e in errors]
        yield said(row["data"]), row["structure"], *shown, row["spikes"]


@table
def unit_rates() -> Cells:
    rows = by(known("unit_rates"), "")
    for structure in ("784→100", "784→50"):
        ours, printed = (
            rows[f"{structure}, lrnn, defaults"],
            rows[f"{structure}, printed algorithm"],
        )
        others = [f"{ours[c]:.4f}" for c in ("data's variance", "bound")]
        yield f"MNIST {structure}", f"{printed['error']:.4f}", f"**{ours['error']:.4f}**", *others


@table
def printed_algorithm() -> Cells:
    for row in known("printed_algorithm"):
        yield (
            row["algorithm"],
            row["structure"],
            "–" if row["paper"] is None else f"{row['paper']:.4f}",
            f"{row['lowest error']:.4f}",
            f"{row['row sums']:.2f}",
            f"{row['probabilities']:.6f}",
            f"{row['steady state']:.0e}",
        )


# --- recognition, outliers ----------------------------------------------------------------------


@table
def decisions() -> Cells:
    columns = "100", "1,000", "10,000", "100,000", "1,000,000", "without spikes"
    for row in known("decisions"):
        yield row["what"], *(f"{row[c]:.3f}" for c in columns)


@table
def stopping() -> Cells:
    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        price = re.search("price ([0-9.]+)", row["what"])
        return price is None, price and price[1], "ratio" in row["what"]

    for row in sorted(known("decisions_stopping"), key=order):
        theory = "steady" in row["what"] and "expected" in row
        spikes = "output spikes" in row
        yield (
            row["what"].replace("ratio", "`ratio=1.5`"),
            f"{row['accuracy']:.3f}",
            rounded(row["median events"]),
            rounded(row["by theory"]) if theory else "",
            rounded(row["mean events"]),
            f"{100 * row['undecided']:.1f} %",
            f"{row['right, of the decided']:.3f}" if spikes else "",
            f"{row['output spikes']:.1f}" if spikes else "",
            f"{row['expected']:.1f}" if theory else "",
        )


@table
def recognition() -> Cells:
    names = {
        "LogisticRegression": "logistic regression",
        "MLPClassifier": "multi-layer perceptron, 784→300→10",
    }
    for row in known("recognition_quick"):
        own = re.sub(r"LRNNClassifier, price (.*)", r"`spike_penalty=\1`", row["what"])
        firings = row.get("firings per output spike")
        yield (
            names.get(row["what"], own),
            f"{row['train']:.3f}",
            f"{row['test']:.3f}",
            "" if firings is None else rounded(firings, 2),
            f"{row['seconds']:.0f}",
        )


@table
def recognition_best() -> Cells:
    rows = known("recognition_best_cuda")
    for what in dict.fromkeys(row["what"] for row in rows):
        found = [row for row in rows if row["what"] == what]
        spikes = fmean(row["firings per output spike"] for row in found)
        yield (
            what.replace("price 0", "free") if what.endswith("price 0") else what,
            *(among([100 * row[part] for row in found]) for part in ("test", "train")),
            power(spikes) if spikes > 1e7 else rounded(spikes, 2),
        )


def among(values: Sequence[float]) -> str:
    """The mean of some percentages, the lowest and the highest."""
    mean, least, most = (f"{value:.1f}" for value in (fmean(values), min(values), max(values)))
    return mean if least == most else f"{mean} ({least}–{most})"


@table
def classifiers() -> Cells:
    with (DOCS / "results" / "classifiers.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["features"] == "attributes"]
    names = "linear", "perceptron", "5-NN", "spikes", "spikes_priced"
    yield [f"{100 * fmean(float(row[name]) for row in rows):.1f}" for name in names]


@table
def few_labels() -> Cells:
    names = {"LogisticRegression": "logistic regression", "nearest neighbours": "neighbours"}
    rows = by(known("few_labels"), "features", "classifier", "labels")
    for features, classifier in sorted({(f, c) for f, c, _ in rows}, key=seen):
        found = [rows[features, classifier, n] for n in (100, 1_000, 10_000)]
        shown = [f"{100 * r['test']:.1f} ± {100 * r['±']:.1f}" for r in found]
        title = names.get(classifier, classifier.replace("LRNNClassifier", "spikes"))
        yield features, title, *shown


def seen(features: tuple[str, str]) -> tuple[Any, ...]:
    """In which order: pixels, PCA, autoencoders, narrow ones first; others' classifiers first."""
    kind, _, width = features[0].partition(" ")
    order = "pixels", "PCA", "autoencoder", "inhibition"
    return order.index(kind), int(width or 0), "LRNN" in features[1], features[1]


DETECTORS = {
    "lrnn": "`lrnn`",
    "lrnn, contamination=0.1": "`contamination=0.1`",
    "kNN": "kNN",
    "LOF": "LOF",
    "PCA": "PCA",
    "IsolationForest": "IsolationForest",
    "PyOD AutoEncoder": "PyOD's AutoEncoder",
    "PyOD AutoEncoder, 100 passes": "the same, 100 passes",
}
NEW_ROWS = [d for d in DETECTORS if "contamination" not in d]


def detectors(name: str, chosen: Sequence[str]) -> Cells:
    """ROC-AUC of some detectors by task, the best in bold."""
    rows = by(known(name), "data", "detector")
    for data in dict.fromkeys(d for d, _ in rows):
        areas = [rows[data, detector]["ROC-AUC"] for detector in chosen]
        title = "**mean**" if data == "mean" else data
        yield title, *marked(areas, [f"{a:.3f}" for a in areas], max)


@table
def detection() -> Cells:
    return detectors("detection", NEW_ROWS)


@table
def detection_others() -> Cells:
    return detectors("detection_others", NEW_ROWS)


@table
def detection_unsupervised() -> Cells:
    return detectors("detection_unsupervised", list(DETECTORS))


@table
def detection_means() -> Cells:
    titles = {
        "detection": "11 tasks",
        "detection_others": "17 others",
        "detection_unsupervised": "a tenth is strange",
    }
    for name, title in titles.items():
        rows = by([r for r in known(name) if r["data"] == "mean"], "detector")
        areas = [f"{rows[d]['ROC-AUC']:.3f}" for d in NEW_ROWS[:-1]]
        if name == "detection_unsupervised":
            areas[0] += f"; told so, {rows['lrnn, contamination=0.1']['ROC-AUC']:.3f}"
        yield title, *areas


@table
def detection_seconds() -> Cells:
    rows = by(known("detection_seconds"), "data", "detector")
    chosen = "lrnn", "kNN", "LOF", "IsolationForest", "PyOD AutoEncoder"
    for data in dict.fromkeys(d for d, _ in rows):
        found = [rows.get((data, d), {}).get("seconds") for d in chosen]
        yield data, *("" if s is None else significant(s) for s in found)


# --- sizes, a GPU -------------------------------------------------------------------------------


@table
def streaming() -> Cells:
    for row in known("streaming"):
        yield (
            row["what"].replace("fit,", "fit 256→32,"),
            f"{row['seconds']:.1f}",
            f"{row['by hand']:.1f}",
            f"{100 * row['share of its speed']:.0f} %",
            f"{row['GB/s read']:.2f}",
            f"{row['peak MB']:.0f}",
        )


@table
def minibatch_orders() -> Cells:
    for row in known("minibatch_streams_sorted"):
        yield (
            row["rows"],
            f"{row['as printed']:.4f}",
            f"{row['unit rates']:.4f}",
            f"{row['fine-tuned']:.5f}",
        )


@table
def minibatch_streams() -> Cells:
    for row in sorted(known("minibatch_streams"), key=lambda r: r["seconds of all cores"]):
        yield (
            row["rows from"],
            f"{row['seconds']:.1f}",
            f"{row['seconds, beside memory']:.2f}",
            f"{row['seconds of all cores']:.1f}",
            f"{row['seconds of all cores, beside memory']:.2f}",
        )


@table
def scaling() -> Cells:
    names = {
        "this machine": "2 cores",
        "1 workers": "Dask, 1 worker of one core",
        "2 workers": "Dask, 2 workers of one core",
    }
    for row in known("scaling"):
        if "rows" in row:
            figures = [
                f"{row[c]:.2f}" for c in ("predicted, s", "measured, s", "measured / predicted")
            ]
            yield names[row["where"]], row["rows"], f"{row['attributes']:,}", *figures


PREDICTED = (  # rows, attributes, workers
    (1e4, 1e2, 1), (1e6, 1e2, 1), (1e6, 1e3, 1), (1e6, 1e3, 10), (1e6, 1e4, 10), (1e6, 1e5, 100),
    (1e8, 1e2, 10), (1e8, 1e3, 10), (1e8, 1e3, 100), (1e8, 1e4, 100), (1e8, 1e4, 1000),
    (1e8, 1e5, 1000), (1e10, 1e2, 100), (1e10, 1e3, 1000), (1e10, 1e4, 1000), (1e10, 1e5, 1000),
)  # fmt: skip


@table
def scaling_predictions() -> Cells:
    rows = {
        (float(r["rows"]), float(r["attributes"]), r["workers"]): r
        for r in known("scaling_predictions")
    }
    for n, v, workers in PREDICTED:
        row = rows[n, v, workers]
        yield (
            power(n),
            power(v),
            f"{workers:,}",
            duration(row["seconds"]),
            size(row["GB moved"]) if row["GB moved"] else "–",
            size(row["GB of memory each"]),
            row["moment"],
        )


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 300:
        return f"{significant(seconds, 2 if seconds < 100 else 3)} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size(gigabytes: float) -> str:
    """Bytes, in the unit that fits."""
    for unit, factor in (("PB", 1e6), ("TB", 1e3), ("GB", 1)):
        if gigabytes >= factor:
            return f"{significant(gigabytes / factor, 2)} {unit}"
    return f"{1000 * gigabytes:.0f} MB"


@table
def gpu() -> Cells:
    names = {
        "MNIST 784→100, torch": "MNIST 784→100, float32 on the device, torch",
        "MNIST 784→100, CuPy": "the same, CuPy",
        "MNIST 784→100, uint8 of the host": "the same, from uint8 in the host's memory",
        "CIFAR-10 3072→150, uint8 of the host": "CIFAR-10 3072→150, from there",
    }
    rows = by(known("gpu"), "what")
    for what, title in names.items():
        row = rows[what]
        yield title, f"{row['seconds']:.3f}", str(row["steps"]), f"{row['error']:.4f}"


@table
def gpu_phases() -> Cells:
    names = {
        "second moment": "second moment of 60,000 rows",
        "product with G": "a product with G",
        "sweeps over the decoder": "two sweeps over the decoder, launched on their own",
        "codes": "codes of all rows",
    }
    rows = by(known("gpu"), "what")
    for what, title in names.items():
        cells = []
        for sizes in ("60000 × 784 → 100", "60000 × 3072 → 150"):
            row = rows[f"{what}, {sizes}"]
            cells += [
                f"{significant(1000 * row['seconds'])} ms",
                percent(row["share of the matrix rate"]),
            ]
        yield title, *cells


@table
def gpu_steps() -> Cells:
    names = {
        "fine-tuning, deep": "fine-tuning 784→1000→500→250→50, batches of 468",
        "fine-tuning, shallow": "fine-tuning 784→100",
        "as printed, batches of 100": "the printed algorithm, batches of 100",
        "unit rates, shallow": "unit rates, 784→100",
    }
    rows = by(known("gpu"), "what")
    for what, title in names.items():
        yield title, f"{rows[what]['steps a second']:,.0f}"


# --- the network, simulations, the live page ------------------------------------------------------


@table
def gradients() -> Cells:
    for row in known("steady_state"):
        seconds = [
            f"{significant(1000 * s, 2)} ms" if s < 0.1 else f"{significant(s, 2)} s"
            for s in (row["solve_s"], row["gradient_s"])
        ]
        yield row["network"], *seconds, f"{row['gradient_peak_memory_MB']:,.0f} MB"


@table
def steady_state() -> Cells:
    for row in known("steady_state"):
        peer = f"{row['peer_steps']:,} steps, {significant(row['peer_s'], 2)} s"
        if not row["peer_reached"]:
            peer = f"{row['peer_residual']:.0e} after {peer}"
        yield (
            row["network"],
            significant(row["setup_s"] + row["solve_s"], 2),
            significant(row["solve_s"], 2),
            f"{row['residual']:.0e}",
            peer,
        )


@table
def early_ends() -> Cells:
    return once(
        (
            row[""],
            str(row["replicas"]),
            f"{100 * row['errors']:.2f} %",
            f"{row['events: median']:,.0f}",
            f"{row['most']:,}",
        )
        for row in known("early_ends")
    )


@table
def engines() -> Cells:
    def cells() -> Cells:
        rows = by(known("engines"), "network", "brightness", "events")
        for network, brightness in dict.fromkeys((n, b) for n, b, _ in rows):
            if brightness < 0.01:
                continue
            runs = [
                rows.get((network, brightness, events)) for events in (1_000, 30_000, 1_000_000)
            ]
            shown = []
            for run in runs:
                if run is None or run["clock, ms"] is None or run["neurons, ms"] is None:
                    shown.append("–")
                    continue
                pair = {e: significant(run[f"{e}, ms"], 2) for e in ("clock", "neurons")}
                pair[run["auto"]] = f"**{pair[run['auto']]}**"
                shown.append(" / ".join(pair.values()))
            rings = next(r for r in runs if r)["rings/event"]
            yield network, f"{brightness:g}", significant(rings, 2), *shown

    return once(cells())


@table
def brightness() -> Cells:
    names = {"clock, 1 thread": "clock, 1 thread (all there was before)"}
    names |= {"Brian2 (steps of time)": "Brian2 (steps of time, approximate)"}
    for row in known("brightness"):
        what = row["10⁶ events/s"]
        speeds = [row[f"brightness {b}"] for b in ("1", "0.1", "0.01", "0.001")]
        yield names.get(what, what), *(significant(s, 1 if s and s < 0.1 else 2) for s in speeds)


@table
def simulation_gpu() -> Cells:
    rows = by(known("simulation_gpu"), "images", "replicas", "brightness", "engine")
    for images, replicas, bright in dict.fromkeys(key[:3] for key in rows):
        cells = []
        for engine in ("clock", "neurons"):
            row = rows.get((images, replicas, bright, engine), {})
            cells += [significant(row.get(c), 2) for c in ("10⁹ events/s, kernel", "whole call")]
        yield f"{images:,} × {replicas:,}", f"{bright:g}", *cells


@table
def one_run_gpu() -> Cells:
    for row in known("one_run_gpu"):
        speeds = [significant(row[c], 2) for c in ("GPU, 10⁶ events/s", "1 thread, 10⁶ events/s")]
        yield row["network"], *speeds


@table
def threads() -> Cells:
    for row in known("threads_16"):
        times = [f"{row[f'{n} threads']:.1f}" for n in (2, 4, 8, 16)]
        yield row["network"], f"{row['1 thread, 10⁶ events/s']:.0f}", *times


@table
def partitioned() -> Cells:
    for row in known("partitioned"):
        name = (
            row["parts"]
            .replace("800MB", "800 MB")
            .replace("worker, at most 800 MB each", "worker, at most 800 MB")
        )
        if "state (SHA-256)" not in row:
            yield name, "–", "–", "it is lost again and again: an error says so", "–"
            continue
        travel = row["bytes/event"]
        yield (
            name,
            str(row["million events/s"]),
            str(travel or 0),
            f"{row['peak MB']:,}",
            row["state (SHA-256)"],
        )


@table
def intervals() -> Cells:
    for row in known("intervals_summary"):
        worst = (
            f"{100 * row[f'{e}, worst cell']:.1f} %" for e in ("potential", "busy", "arrivals")
        )
        short = f"{100 * row['marked as short']:.0f} %"
        yield row["network"], f"{row['load']:g}", str(row["cells"]), *worst, short


@table
def convergence() -> Cells:
    rows = by(
        [r for r in known("spiking_convergence") if (r["start"], r["least rate"]) == ("empty", 1)],
        "estimator", "events",
    )  # fmt: skip
    wanted = [("potential", 10**k) for k in (4, 5, 6, 7)]
    wanted += [(e, 10**7) for e in ("events", "busy", "arrivals")]
    for estimator, events in wanted:
        row = rows[estimator, events]
        errors = [
            significant(row[c], 2) for c in ("input", "hidden", "output", "worst image, any layer")
        ]
        yield power(events), estimator, *errors


@table
def simulation() -> Cells:
    names = {
        "lrnn, all statistics": "**`lrnn`**, with all statistics",
        "plain uniformisation (numba), potentials only": "the same method written plainly (numba)",
        "Ciw": "Ciw (queueing networks)",
        "Brian2 (steps of time)": "Brian2 (steps of time, approximate)",
    }
    for row in known("simulation"):
        if row[""] in names:
            ours = row[""].startswith("lrnn")
            times = "" if ours else rounded(row["lrnn is faster by"], 2)
            yield names[row[""]], rounded(row["events/s"], 2), times


@table
def live() -> Cells:
    names = {
        "MNIST 784→100, inhibition": "with inhibition at a price",
        "digits 64→16": "scikit-learn's digits 64→16",
    }
    for row in known("live"):
        compiled = (
            "" if "side by side" in row["what"] else f"{row['compiled, 10⁶ per s']:.0f} million"
        )
        yield (
            names.get(row["what"], row["what"]),
            f"{row['MB']:.1f} MB",
            f"{row['opened, s']:.2f} s",
            f"{row['10⁶ events per s']:.1f} million",
            f"{row['frames per s']:.0f}",
            f"{row['new input, ms']:.0f} ms",
            compiled,
        )


# --- pages ----------------------------------------------------------------------------------------


def renewed(page: str) -> str:
    """A page with its tables as they should be, below their headers."""

    def made(found: re.Match[str]) -> str:
        start, header, name = found[0], found["header"], found["name"]
        columns = header.splitlines()[1].count("|") - 1
        lines = []
        for row in TABLES[name]():
            assert len(row) == columns, f"{name}: {columns} columns, but {row}"
            lines.append("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|\n")
        assert lines, f"{name}: {RESULTS.name} has nothing for this table"
        return start[: start.index(header)] + header + "".join(lines)

    return MARK.sub(made, page)


def stale() -> list[Path]:
    """Pages with tables that are not those of the results."""
    pages = sorted(DOCS.rglob("*.md"))
    return [p for p in pages if renewed(now := p.read_text(encoding="utf-8")) != now]


def main() -> None:
    """Write the tables, or tell what would be written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    for page in stale():
        console.print(f"{page.relative_to(DOCS.parent)}: tables differ from {RESULTS.name}")
        if not wanted.check:
            page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
