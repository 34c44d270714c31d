"""All results as a page with its tables and figures, in a folder."""

import csv
import json
import os
import platform
import tomllib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lrnn.datasets import DATA_SETS
from reproduction import classifiers as comparison
from reproduction import figure4, lowest, recognition, summary
from reproduction.experiments import AMPLE, MODEST, READINGS, RECIPES, STRUCTURES
from reproduction.figures import QUICK, figures
from reproduction.summary import Result
from reproduction.verdicts import verdicts

HERE = Path(__file__).parent
TABLES: dict[str, dict[str, Any]] = tomllib.loads(
    (HERE / "tables.toml").read_text(encoding="utf-8")
)
"""Caption and columns of each table."""
CAPTIONS: dict[str, str] = TABLES.pop("figures")
"""What each figure shows."""
ROWS: dict[str, Callable[[Sequence[Result]], list[dict[str, Any]]]] = {
    "verdicts": lambda results: verdicts(results) if _of_the_paper(results) else [],
    "lowest_errors": lambda results: summary.lowest_errors(results, "free"),
    "lowest_errors_unit_rates": lambda results: summary.lowest_errors(results, "unit"),
    "audits": summary.audits,
    "recognition": summary.recognition,
    "figure4_networks": figure4.networks,
    "figure4_errors": figure4.errors,
    "figure4_verdicts": figure4.verdicts,
    "figure4_estimators": figure4.estimators,
    "stalled": lowest.lowest,
    "inhibition": summary.inhibition,
    "inhibition_robustness": summary.robustness,
    "inhibition_coverage": summary.coverage,
    "classifiers": summary.classifiers,
}
"""What makes the rows of each table."""
FILES = (
    "summary.json", "README.md",
    *(f"{name}.csv" for name in ROWS),
    *(f"figures/{name}.{kind}" for name in CAPTIONS for kind in ("png", "svg")),
)  # fmt: skip
"""All that is written, as far as there are results for it."""


def write_reproduction(results: Sequence[Result], folder: Path, command: str) -> Path:
    """Write the page (``README.md``), tables as CSV and JSON, and figures as PNG and SVG."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    rows = {name: make(results) for name, make in ROWS.items()}
    for name, found in rows.items():
        if found:
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(found)
    drawn = figures(results)
    for name, figure in drawn.items():
        for kind in ("png", "svg"):
            figure.savefig(folder / "figures" / f"{name}.{kind}")
    quick = any(result["quick"] for result in results)
    facts = {"machine": machine(), "command": command, "quick": quick}
    (folder / "summary.json").write_text(json.dumps(rows | facts, indent=1), encoding="utf-8")
    page = folder / "README.md"
    page.write_text(_page(results, rows, facts, list(drawn)), encoding="utf-8")
    return page


def _page(
    results: Sequence[Result], rows: dict[str, Any], facts: dict[str, Any], drawn: Iterable[str]
) -> str:
    free, said = rows["lowest_errors"], rows["verdicts"]
    judged = [row for row in said if row["verdict"] != "not run"]
    simulated = dict(figure4.simulations(results))
    used = dict.fromkeys(
        r["subject"] if r["subject"] in DATA_SETS else STRUCTURES[r["subject"]].data
        for r in results
    )
    tables = {name: table(name, found) for name, found in rows.items()}
    tables["verdicts"] = table("verdicts", judged)
    tables["machine"] = markdown("Versions and machine", ["", ""], facts["machine"])
    environment = Environment(
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["plain"] = plain
    first = READINGS[""].title
    return environment.get_template("page.md").render(
        facts,
        quick=QUICK if facts["quick"] else "",
        title=_title(results),
        date=datetime.now(UTC).date().isoformat(),
        minutes=round(sum(r["took"] for r in results) / 60),
        paper=_of_the_paper(results),
        tables=tables,
        captions={name: CAPTIONS[name] for name in drawn},
        judged=len(judged),
        claims=len(said),
        count=len(free),
        worse=[f"{r['data']} {r['structure']}" for r in free if _is_worse(r)],
        layerwise=any(r["printed_layerwise"] for r in free),
        passes=_passes(),
        remarks=[(f"{r['data']} {r['structure']}", r["remark"]) for r in free if r["remark"]],
        settings=recognition,
        comparison=comparison,
        recipes=RECIPES,
        modest=MODEST,
        ample=AMPLE,
        stalled=[r for r in rows["stalled"] if r["reading"] == first and r["paper"] is not None],
        images=next((r["images"] for r in results if r["kind"] == "spiking"), 0),
        printed=simulated.get("printed"),
        coverage=[f"{100 * network['coverage']:.0f}" for network in simulated.values()],
        valid=all(r["valid"] for r in rows["audits"]),
        classified=comparison.in_words(rows["classifiers"]) if rows["classifiers"] else [],
        notes=[(DATA_SETS[n].title, DATA_SETS[n].notes) for n in used if DATA_SETS[n].notes],
    )


def table(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """A table of the page; nothing without rows."""
    if not rows:
        return ""
    columns = [
        (header, *rest)
        for header, *rest in TABLES[name]["columns"]
        if any(row.get(rest[0]) is not None for row in rows)
    ]
    lines = [[shown(row, *rest) for _, *rest in columns] for row in rows]
    return markdown(TABLES[name]["caption"], [header for header, *_ in columns], lines)


def shown(row: dict[str, Any], fact: str, form: str = "") -> str:
    """A fact of a row in words, such as 0.01342 ± 0.00052; a dash where there is none."""
    value = row.get(fact)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if form == "count":
        return f"{value:,.0f}" if value == 0 or 100 <= value < 1e7 else f"{value:.2g}"
    width = row.get(f"{fact}_spread", row.get(f"{fact}_half"))
    numbers = [value] if width is None else [value, width]
    if form == "percent":
        form, numbers = ".1f", [100 * number for number in numbers]
    return " ± ".join(format(number, form) for number in numbers)


def markdown(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table with its caption.

    >>> print(markdown("Errors", ["data", "error"], [["a|b", "0.1"]]))
    **Errors**
    <BLANKLINE>
    | data | error |
    |---|---|
    | a\|b | 0.1 |
    <BLANKLINE>
    """
    lines = [f"| {' | '.join(map(plain, line))} |" for line in (header, *rows)]
    lines.insert(1, f"|{'---|' * len(header)}")
    return "\n".join([f"**{plain(caption)}**", "", *lines, ""])


def plain(text: str) -> str:
    """Text that means nothing in Markdown."""
    for mark in ("\\", "|", "<", "*", "_", "`", "["):
        text = text.replace(mark, f"\\{mark}")
    return text


def machine() -> list[tuple[str, str]]:
    """What the experiments ran on, if it was here."""
    libraries = ("lrnn", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")
    return [
        ("machine", f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in libraries),
    ]


def _of_the_paper(results: Sequence[Result]) -> bool:
    return any(r["kind"] not in ("inhibition", "robustness", "classifiers") for r in results)


def _title(results: Sequence[Result]) -> str:
    if _of_the_paper(results):
        return "The paper's experiments, run again"
    if any(r["kind"] == "classifiers" for r in results):
        return "Classifiers made of spikes, beside others"
    return "What inhibition is good for"


def _is_worse(row: dict[str, Any]) -> bool:
    rivals = [row[name] for name in ("printed", "printed_layerwise", "paper") if row[name]]
    return bool(row["lrnn"] > min(rivals) + 5e-5)


def _passes() -> dict[str, str]:
    """Passes of the printed algorithms in words, such as ``MNIST 8, Yale 40``."""

    def counts(passes: dict[str, int], deep: bool = True) -> str:
        of = {name: DATA_SETS[STRUCTURES[name].data].title.split()[0] for name in passes}
        return ", ".join(f"{of[n]} {k}" for n, k in passes.items() if STRUCTURES[n].deep == deep)

    return {
        "joint": counts({name: s.passes for name, s in STRUCTURES.items()}),
        "layerwise": counts({name: s.passes_layerwise for name, s in STRUCTURES.items()}),
        "recognised": counts(recognition.PRINTED, deep=False),
        "recognised_deep": counts(recognition.PRINTED),
        "fine_tune": counts(recognition.FINE_TUNE),
    }
