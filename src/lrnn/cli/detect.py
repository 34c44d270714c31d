"""``lrnn detect``: which rows do not belong, and why."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from lrnn.cli.inputs import (
    HIGHEST_SEED,
    DataOf,
    DeviceOf,
    SplitOf,
    ToTrainOn,
    layer_sizes,
    part_taken,
    rows_of_part,
    tell,
)
from lrnn.cli.judging import Judged, detector_file, detector_in, held_out_rows, judge
from lrnn.cli.outputs import Force, check_named, check_new, check_output, named_after
from lrnn.cli.report import check_folder, detection_page
from lrnn.cli.tables import Judged as KnownCells
from lrnn.cli.tables import OpenScale, TableOptions, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice, text_table

TABLES = (".csv", ".tsv", ".parquet")
SHOWN, FEWEST_SHOWN = 10, 3  # rows, with the reasons; so many also if they are normal
OF_DATA = ("--label", "--index", "--scale")  # what is said of a table that is only judged


@takes_tables(missing=KnownCells, scale=OpenScale)
def detect(
    data: DataOf,
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A file: .csv, .tsv or .parquet; by default DATA-scores.csv, here.",
        ),
    ] = None,
    fit_on: Annotated[
        str | None,
        typer.Option(
            metavar="CLEAN",
            help="Rows that are known to be normal, of the same columns: learn from these, not "
            "from DATA.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            callback=detector_file,
            help="A detector that was kept (--save): judge DATA by it, and learn nothing.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Keep the detector: a .safetensors file."),
    ] = None,
    contamination: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="The share of outliers among the rows to learn from, up to 0.5; by default these "
            "are taken to be normal, and about 5 % of normal rows are called outliers.",
        ),
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option(
            help="Code neurons, or sizes of hidden layers: 50-10; by default as many code neurons "
            "as foretell held-out entries best."
        ),
    ] = None,
    normal: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Which --label is that of normal rows: tell how well they are told from others.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a page on it, too: FOLDER/index.html."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=HIGHEST_SEED, help="Seed of the random numbers; by default 0."),
    ] = None,
    device: DeviceOf = None,
    split: SplitOf = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find rows that do not belong, and say why.

    A network learns to give normal rows back, and typical rows are remembered; a row is strange by
    what is not given back of it, and by how far it is from others. For each row a score is written
    (the higher, the more normal: -1 is usual), a p-value (of how large a share of normal rows are
    as strange), whether it is an outlier, and the three attributes that make it strangest, with
    what they are and what was expected. It is measured by rows that were held out of training.

    Rows are learnt from DATA itself, or better from CLEAN rows that are known to be normal. Of
    rows that were learnt from, fewer are called outliers than of new ones.

    Examples:

        lrnn detect sensors.csv --index time -o scores.csv

        lrnn detect today.csv --fit-on last-year.csv --save normal.safetensors

        lrnn detect tomorrow.csv --model normal.safetensors --report page

        lrnn detect orders.csv --index id --categories onehot --missing allow --contamination 0.02

        lrnn detect wine --hidden 4 --seed 1

        lrnn detect claims.csv --label kind --normal honest
    """
    from lrnn.estimators.detector import share_beyond
    from lrnn.tables.atomic import check_apart

    voice = Voice(quiet, as_json)
    if model is not None:
        _refuse_training(
            options, fit_on=fit_on, save=save, contamination=contamination, hidden=hidden, seed=seed
        )
    share = _share(contamination)
    output = output or named_after(data, "-scores.csv")
    others = [path for path in (fit_on, model) if path is not None]
    check_named(output, TABLES)
    check_output(output, force, data, *others)
    if save is not None:
        check_named(save, option="--save")
        check_apart(save, data, output, *others)
        check_new(force, save)
    if report is not None:
        check_folder(report)
        check_apart(report, data, output, *others)
        check_new(force, report / "index.html")
    part = part_taken(data, split)
    ledger: dict[str, Any] = {}
    if model is not None:
        found = detector_in(model)
    else:
        found, ledger = _fitted(
            fit_on or data, data, options, hidden, share, seed or 0, device, voice
        )
        if save is not None:
            found.save(save)
    found.device = device
    judged = judge(found, data, voice, split=part, label=options.label, index=options.index)
    if options.label is not None and judged.given.classes is None:
        voice.note(f"{data!r} has no column {options.label!r}: its rows are judged without labels")
    truth = _Truth.of(judged, data, normal)
    _write(output, judged)
    told = ledger if model is None and fit_on is None else judged.given.tell(voice)
    gaps = _tell_of_gaps(judged, data, voice)
    document = {
        "output": str(output),
        "data": data,
        "fit_on": None if model is not None else fit_on or data,
        "model": None if model is None and save is None else str(model or save),
        "rows": len(judged.scores),
        "split": part,
        "outliers": int(judged.outliers.sum()),
        "flagged_share": found.flagged_share_,
        "held_out": held_out_rows(found),
        "offset": found.offset_,
        "contamination": found.contamination,
        "hidden": _sizes(found),
        "widths_tried": None
        if found.width_path_ is None
        else [point.width for point in found.width_path_.points],
        "normal": None if truth is None else truth.normal,
        "roc_auc": None if truth is None else truth.area,
        "cells_missing": gaps,
        "strangest": _strangest(judged),
        "report": None,
        **told,
    }
    count = int(judged.outliers.sum())
    lines = [
        f"{count:,} of {rows_of_part(len(judged.scores), data, part)} "
        f"{'is an outlier' if count == 1 else 'are outliers'}, "
        f"{100 * judged.outliers.mean():.3g} %; {100 * share_beyond(found):.3g} % are to be "
        f"expected of normal rows, by {held_out_rows(found):,} that were held out",
        hidden_line(found),
    ]
    if truth is not None and truth.area is not None:
        lines.append(truth.line)
    if save is not None:
        lines.append(f"the detector: {save}")
    lines.append(f"written to {output}")
    if report is not None:
        command = shlex.join(["lrnn", *sys.argv[1:]])
        page = detection_page(found, judged, report, voice, _titled(data, part), command, seed or 0)
        document["report"] = str(page)
        lines.append(f"report: {page}")
    voice.result(document, "\n".join(lines))
    if not as_json:
        voice.say("")
        voice.say(text_table(*_shown(judged)))


def _refuse_training(options: TableOptions, **given: Any) -> None:
    """Complain of what is said of training, where a model is there already."""
    mine = [option for option in options.given if option not in OF_DATA]
    mine += ["--scale"] if options.scale != OpenScale.open else []
    mine += [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if mine:
        raise typer.BadParameter(
            "is for training, and --model gives a detector that is trained already: it takes data "
            "as it remembers",
            param_hint=", ".join(mine),
        )


def _share(text: str | None) -> Any:
    """A contamination as a user writes it."""
    if text is None or text == "auto":
        return "auto"
    try:
        number = float(text)
        if 0 < number <= 0.5:
            return number
    except ValueError:
        pass
    raise typer.BadParameter(
        f"{text!r} should be auto, or a share above 0 and at most 0.5, such as 0.02",
        param_hint="--contamination",
    )


def _fitted(
    source: str,
    data: str,
    options: TableOptions,
    hidden: str | None,
    contamination: Any,
    seed: int,
    device: str | None,
    voice: Voice,
) -> tuple[Any, dict[str, Any]]:
    """A detector that has learnt what is normal, and what was left out or filled for it."""
    from lrnn.estimators.detector import LRNNOutlierDetector

    if source != data:
        options = _of_clean(source, data, options, voice)
    taken = ToTrainOn.of(source, options, voice)
    sizes, behind = (None, None) if hidden is None else layer_sizes(hidden, taken.attributes)
    if behind is not None:
        raise typer.BadParameter(
            f"{hidden!r}: layers behind the code mirror those before it, in a detector",
            param_hint="--hidden",
        )
    found = LRNNOutlierDetector(
        sizes,
        contamination=contamination,
        scale=taken.scaling,
        missing=options.of_model,
        device=device,
        random_state=seed,
    )
    with taken.explained(), voice.working(f"learning from {source}"):
        found.fit(taken.table)
    ledger = taken.table.ledger
    ledger.guessed = 0  # nothing is filled in, and cells are told of as rows are judged
    return found, tell(ledger, voice)


def _columns(table: Any) -> tuple[str, ...] | None:
    """What a table's columns are called, if they are."""
    known = getattr(table.data, "columns", None) or table.names
    return None if known is None else (*known, *getattr(table.data, "beside", ()))


def _of_clean(source: str, data: str, options: TableOptions, voice: Voice) -> TableOptions:
    """Options for clean rows, which need not have the label of DATA, nor names of their own."""
    known = _columns(options.open(source, voice))
    if known is None or {options.label, options.index} <= {None, *known}:
        return options
    judged = _columns(options.open(data, voice)) or ()

    def there(column: str | None) -> str | None:
        return None if column not in known and column in judged else column

    return replace(options, label=there(options.label), index=there(options.index))


class _Truth:
    """Which rows are normal, as the data tell it."""

    def __init__(self, normal: str, area: float | None, line: str) -> None:
        self.normal, self.area, self.line = normal, area, line

    @classmethod
    def of(cls, judged: Judged, data: str, normal: str | None) -> Any:
        """By a label with two values, the commoner of which is normal, or by the normal one."""
        cells = judged.given.classes
        if cells is None:
            if normal is not None:
                raise typer.BadParameter(
                    f"{data!r} does not tell classes of its rows; --label names their column",
                    param_hint="--normal",
                )
            return None
        texts, labelled = _texts(cells)
        values, counts = np.unique(texts[labelled], return_counts=True)
        if normal is None and len(values) != 2:
            return None
        chosen = str(values[counts.argmax()]) if normal is None else normal
        if chosen not in values.tolist():
            shown = ", ".join(map(repr, values[:5].tolist())) + (" …" if len(values) > 5 else "")
            raise typer.BadParameter(
                f"no row of {data!r} has the label {chosen!r}; there are {shown}",
                param_hint="--normal",
            )
        area = _area(judged.scores[labelled], texts[labelled] == chosen)
        how = "" if normal is not None else ", the commoner of two labels"
        said = "" if area is None else f"ROC-AUC {area:.4f}, where {chosen!r} is normal{how}"
        return cls(chosen, area, said)


def _area(scores: NDArray[Any], normal: NDArray[np.bool_]) -> float | None:
    """How surely a normal row has a higher score than another; None without any of either."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(normal, scores)) if 0 < normal.sum() < len(normal) else None


def _texts(cells: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Labels as text, and which rows have one."""
    from lrnn.cli.labels import without_class
    from lrnn.tables.frame import as_text

    labelled = ~without_class(cells)
    texts = [as_text(cell) if sure else "" for cell, sure in zip(cells, labelled, strict=True)]
    return np.array(texts, dtype=object), labelled


def _write(output: Path, judged: Judged) -> None:
    """All that is said of each row, after its name and before its label."""
    from lrnn.tables.writers import write_blocks

    found: dict[str, Any] = {
        "score": judged.scores,
        "p-value": judged.p_values,
        "verdict": np.where(judged.outliers, "outlier", "normal").astype(object),
        **judged.reasons.columns(),
    }
    name, cells = ("row", judged.rows) if judged.index is None else judged.index
    found = {_free(name, found): cells} | found
    classes = judged.given.classes
    if classes is not None:
        texts, labelled = _texts(classes)
        texts[~labelled] = None
        found[_free(judged.given.rows.along.label or "label", found)] = texts
    shape = (len(judged.scores), len(found))
    write_blocks(output, [list(found.values())], shape, np.float64, list(found))


def _free(name: str, taken: dict[str, Any]) -> str:
    """A name for a column that no other has."""
    while name in taken:
        name = f"its {name}"
    return name


def _tell_of_gaps(judged: Judged, data: str, voice: Voice) -> int:
    """Say how many cells were not known; and their number."""
    if judged.given.rows.gaps is None:
        return 0
    cells = judged.given.cells()
    gaps = np.isnan(cells)
    count, rows, unknown = (
        int(n) for n in (gaps.sum(), gaps.any(axis=1).sum(), gaps.all(axis=1).sum())
    )
    if count:
        voice.note(
            f"{count:,} cells of {rows:,} rows of {data!r} are missing; such rows are judged by "
            "their known cells"
            + f", and nothing is strange of {unknown:,} without any"
            * (unknown > 0)
        )
    return count


def _sizes(model: Any) -> list[int]:
    """Of the encoding layers."""
    weights = model.autoencoder_.weights_
    return [int(size) for size in weights.sizes[1 : len(weights.encoders) + 1]]


def hidden_line(model: Any) -> str:
    """How wide the network is, and why."""
    *before, code = _sizes(model)
    said = f"{code} code neuron{'s' * (code != 1)}"
    if before:
        said += f" behind {'-'.join(map(str, before))}"
    path = model.width_path_
    if path is not None:
        tried = ", ".join(str(point.width) for point in path.points)
        return f"{said}, chosen by held-out entries from {tried}; --hidden gives another number"
    if model.hidden_layer_sizes is None:
        return f"{said}, as so few rows or attributes need; --hidden gives another number"
    return f"{said}, as it was said"


def _titled(data: str, part: str | None) -> str:
    return (Path(data).name or data) + ("" if part is None else f" ({part})")


def _count_shown(judged: Judged) -> int:
    """How many of the strangest rows are shown."""
    return min(len(judged.strangest), SHOWN, max(FEWEST_SHOWN, int(judged.outliers.sum())))


def _shown(judged: Judged) -> tuple[list[str], list[list[str]], str]:
    """The strangest rows, with reasons."""
    from lrnn.analysis.explanations import HEADER

    count, names = _count_shown(judged), judged.names
    lines = judged.strangest.lines(range(count))
    header = list(HEADER)
    if names is not None and judged.index is not None:
        header[0] = judged.index[0]
        each = len(lines) // max(count, 1)
        for i in range(count):
            lines[each * i][0] = names[i]
    return header, lines, f"the {count} strangest rows"


def _strangest(judged: Judged) -> list[dict[str, Any]]:
    """The same, as JSON can hold it."""
    found, names = judged.strangest, judged.names
    return [
        {
            "row": int(found.rows[i]) + 1,
            "index": None if names is None else names[i],
            "score": -float(found.strangeness[i]),
            "p_value": float(found.p_values[i]),
            "outlier": bool(found.outliers[i]),
            "reasons": [
                {
                    "attribute": found.names[k],
                    "value": _plain(found.values[k][i]),
                    "expected": _plain(found.expected[k][i]),
                    "share": found.share(i, k),
                }
                for k in found.strongest(i)
            ],
        }
        for i in range(_count_shown(judged))
    ]


def _plain(value: Any) -> str | float | None:
    """A cell as JSON can hold it."""
    if isinstance(value, str) or value is None:
        return value
    return float(value) if np.isfinite(value) else None
