"""``lrnn data describe``: what a table holds, and the command that would train on it."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from lrnn.cli.inputs import DataOf, check_rows
from lrnn.cli.tables import TableOptions, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice, plain

MOST_SHOWN = 60  # columns
FEWEST = 3  # rows, by which texts that all differ may be told from classes
HEADER = ("", "column", "holds", "from", "to", "missing", "suggestion")


@takes_tables()
def describe(
    data: DataOf, options: TableOptions, quiet: Quiet = False, as_json: Json = False
) -> None:
    """Show what the columns of a table hold, and the command that would train on it.

    For each column: its kind, its range, how many cells are missing, and what to do about it.

    Examples:

        lrnn data describe patients.csv

        lrnn data describe patients.csv --na '?' --decimal ,
    """
    from scipy import sparse

    from lrnn.tables.frame import Columns
    from lrnn.tables.recipe import MatrixColumns
    from lrnn.tables.survey import survey, survey_sparse

    voice = Voice(quiet, as_json)
    check_rows(data)
    table = options.open(data, voice)
    columns = (
        table.data if isinstance(table.data, Columns) else MatrixColumns(table.data, table.names)
    )
    with voice.working(f"looking at {data}"):
        if sparse.issparse(table.data):
            facts = survey_sparse(table.data, columns.columns)
            advice, way = {}, "allow"  # nothing else is offered for it: it is taken as it is
        else:
            facts = survey(columns, columns.columns)
            advice, way = _advice(facts, columns.beside), _way(facts)
    command = _command(data, options, facts, advice, columns, way)
    document = {
        "data": data,
        "rows": facts[0].rows,
        "named": columns.named,
        "beside": list(columns.beside),
        "columns": [_document(found, advice) for found in facts],
        "command": command,
    }
    shown = facts[:MOST_SHOWN]
    lines = [_line(number, found, advice, way) for number, found in enumerate(shown, start=1)]
    title = f"{data}: {facts[0].rows:,} rows, {len(facts):,} columns"
    if not columns.named:
        title += ", without names"
    if columns.beside:
        title += f"; beside them an index: {', '.join(columns.beside)}"
    voice.result(document, _table(lines, title))
    if len(facts) > MOST_SHOWN:
        voice.say(f"and {len(facts) - MOST_SHOWN:,} more columns (--json lists all)")
    voice.say(command)


def _table(lines: list[list[str]], title: str) -> Table:
    """A table that fits narrow terminals."""
    table = Table(title=plain(title), title_justify="left", title_style="", box=None)
    for name in HEADER:
        right = name in ("", "from", "to", "missing")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for line in lines:
        table.add_row(*map(plain, line))
    return table


def _advice(facts: list[Any], beside: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """What to do with columns that are not to be trained on as they are: an option, and why.

    Those ``beside`` them are an index already.
    """
    from lrnn.tables.survey import class_among

    found: dict[str, tuple[str, str]] = {}
    unique = [one for one in facts if _all_differ(one)]
    for facts_of in facts:
        name, kind = facts_of.name, facts_of.kind
        count = len(facts_of.values) if facts_of.values is not None else None
        filled = facts_of.rows - facts_of.missing
        if kind == "nothing":
            found[name] = "drop", "is empty"
        elif kind == "number" and facts_of.counting and facts_of.rows >= 5:
            free = not (beside or unique) and "index" not in {
                option for option, _ in found.values()
            }
            found[name] = ("index" if free else "drop"), "counts the rows"
        elif facts_of.mark is not None:
            found[name] = "na", f"{facts_of.mark:g}"
        elif facts_of.far is not None:
            found[name] = "na", facts_of.far.written
        elif kind == "date":
            found[name] = "drop", "dates"
        elif facts_of.decimal_commas:
            found[name] = "decimal", "commas"
        elif kind == "text" and facts_of.numbers > filled / 2:
            found[name] = "na", "numbers, and other marks"
        elif _all_differ(facts_of):
            first = facts_of is unique[0] and not beside
            found[name] = ("index" if first else "drop"), "nearly all differ"
        elif kind == "text":
            found[name] = "categories", f"{count} values"
    last, likely = facts[-1], class_among(facts)
    as_text = last.kind == "text" and found.get(last.name, ("",))[0] == "categories"
    if likely is None and as_text and len(facts) > 1:
        likely = last
    if likely is not None:
        found[likely.name] = "label", "looks like a class"
    return found


def _all_differ(found: Any) -> bool:
    """Whether a column of text names the rows."""
    filled = found.rows - found.missing
    if found.kind != "text" or found.numbers > filled / 2 or found.decimal_commas:
        return False
    if found.values is None or len(found.values) > max(10, filled / 2):
        return True
    return bool(len(found.values) == filled > FEWEST)  # few rows, and each has its own


def _command(
    data: str, options: TableOptions, facts: list[Any], advice: Any, columns: Any, way: str
) -> str:
    words = ["lrnn", "fit", data]
    reading = options.reading
    for name in reading.given:
        value = getattr(reading, name)
        if name == "na":
            words += [word for text in value for word in ("--na", text)]
        elif isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name}")
        else:
            words += [f"--{name}", "x".join(map(str, value)) if name == "resize" else str(value)]
    words += [word for name in columns.beside[:1] for word in ("--index", name)]
    missing, marks = False, []
    for found in facts:
        option, _ = advice.get(found.name, ("", ""))
        if option in ("drop", "index", "label"):
            words += [f"--{option}", _called(found, facts)]
            continue
        missing |= found.missing > 0
        mark = _mark(found) if option == "na" else None
        if mark is not None:
            marks.append(mark)
            missing = True
    words += [word for mark in dict.fromkeys(marks) for word in ("--na", mark)]
    if any(option == "decimal" for option, _ in advice.values()):
        words += ["--decimal", ","]
    if any(option == "categories" for option, _ in advice.values()):
        words += ["--categories", "onehot"]
    if missing:
        words += ["--missing", way]
    stem = Path(data).name.removesuffix(".gz")
    words += ["-o", f"{Path(stem).stem or 'data'}.safetensors"]
    return shlex.join(words)


def _way(facts: list[Any]) -> str:
    """How to treat missing cells: filling them with what is probable takes a table in memory."""
    from lrnn.rows.base import BUFFER_BYTES

    attributes = sum(len(found.values) if found.values else 1 for found in facts)
    return "allow" if 8 * facts[0].rows * attributes <= BUFFER_BYTES else "median"


def _mark(found: Any) -> str | None:
    """What stands for a missing number in a column of such, if that can be seen."""
    if found.mark is not None:
        return f"{found.mark:g}"
    if found.far is not None:
        return str(found.far.written)
    digits = found.odd is None or any(map(str.isdigit, found.odd[1]))
    return None if digits else str(found.odd[1])


def _called(found: Any, facts: list[Any]) -> str:
    names = [one.name for one in facts]
    number = names.index(found.name) + 1
    return str(number) if found.name == f"column {number}" or "," in found.name else found.name


def _line(number: int, found: Any, advice: Any, way: str) -> list[str]:
    option, why = advice.get(found.name, ("", ""))
    said = {
        "drop": f"--drop ({why})",
        "index": f"--index ({why})",
        "label": f"--label ({why})",
        "na": f"{found.odd[1]!r} is no number" if found.odd else f"--na {why} (far off)",
        "categories": f"--categories ({why})",
        "decimal": "--decimal , (commas)",
    }.get(option, "")
    if not said and found.missing:
        said = f"--missing {way}"
    low, high = _range(found)
    missing = f"{found.missing:,}" if found.missing else ""
    return [str(number), found.name, _kind(found), low, high, missing, said]


def _kind(found: Any) -> str:
    if found.kind == "number":
        return "integers" if found.whole else "numbers"
    return {"truth": "true, false", "date": "dates", "nothing": "nothing"}.get(found.kind, "text")


def _range(found: Any) -> tuple[str, str]:
    if found.kind == "number":
        return f"{found.low:g}", f"{found.high:g}"
    if found.values:
        texts = sorted(found.values)
        return texts[0][:16], texts[-1][:16]
    return "", ""


def _document(found: Any, advice: Any) -> dict[str, Any]:
    option, why = advice.get(found.name, (None, None))
    number = found.kind == "number" and np.isfinite(found.low)
    return {
        "name": found.name,
        "kind": found.kind,
        "low": found.low if number else None,
        "high": found.high if number else None,
        "missing": found.missing,
        "values": None if found.values is None else len(found.values),
        "option": option,
        "why": why,
    }
