"""``lrnn classify``: the classes of rows, also spike by spike."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, log
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from lrnn.cli.inputs import (
    DataOf,
    Given,
    SplitOf,
    given_for,
    model_file,
    model_for,
    numbers_explained,
    part_taken,
    rows_of_part,
)
from lrnn.cli.labels import numbered, tell_unlabelled, without_class
from lrnn.cli.outputs import Force, check_named, check_new, check_output, named_after
from lrnn.cli.voice import Json, Quiet, Voice, text_table

Start = StrEnum("Start", ["empty", "stationary"])
TABLES, FIGURES = (".csv", ".tsv", ".parquet"), (".png", ".svg", ".pdf")
EVENTS, CONFIDENCE = 1e6, 0.95
FEW_CLASSES = 20  # of which all confusions are shown
SHOWN = 10  # confusions, of more classes
REMEDY = "; --label names the column that holds them"


def classify(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            callback=model_file,
            help="A classifier that lrnn fit --classify has written.",
        ),
    ],
    data: DataOf,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A file: .csv, .tsv or .parquet; by default DATA-classes.csv, here.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The true class of the rows; by default the column that the model remembers.",
        ),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Decide spike by spike, too, by a simulation of at most so many events of each "
            "row, such as 1e6.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="How surely such a decision is that of the network without spikes, such as 0.95; "
            "--events is then 1e6, unless it is given.",
        ),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Be so sure only of rows whose best class fires so many times as often as others, "
            "such as 1.5, and decide the rest sooner.",
        ),
    ] = None,
    start: Annotated[
        Start | None,
        typer.Option(help="Begin with all neurons at rest (by default), or in their steady state."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw accuracy against events (.png, .svg or .pdf), up to --events.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the simulation; by default 0.")
    ] = None,
    split: SplitOf = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Tell the classes of data: one row for each of theirs, with the probability of each class.

    The probability of a class is its share of the network's output spikes. Where the data tell
    their true classes, accuracy is shown, and what was taken for what; rows without a label are
    left out of it. With --events the network is also simulated, row by row, until its output spikes
    decide; how many that takes is told by theory beforehand, and where no row can be expected to
    decide none is tried. Decisions that begin in the steady state agree with the probabilities as
    surely as --confidence says.

    Examples:

        lrnn classify wine.safetensors wine.csv -o classes.csv

        lrnn classify wine.safetensors new.csv --label class

        lrnn classify mnist.safetensors mnist --split test

        lrnn classify digits.safetensors digits --events 1e6 --confidence 0.99

        lrnn classify digits.safetensors digits --events 1e6 --ratio 1.5

        lrnn classify digits.safetensors digits --events 1e5 --plot events.png
    """
    voice = Voice(quiet, as_json)
    asked = any(given is not None for given in (events, confidence, ratio))
    limit = _number(events) if asked else None
    _check_rule(confidence, ratio)
    _check_simulated(limit, start=start, seed=seed)
    output = output or named_after(data, "-classes.csv")
    check_named(output, TABLES)
    check_output(output, force, model, data)
    _check_plot(plot, limit, force, model, data)
    found = _classifier(model, data)
    part = part_taken(data, split)
    given = given_for(found, data, voice, part, label=label)
    with (
        numbers_explained(data, fitting=False),
        voice.working(f"classifying {data}"),
    ):
        shares = np.asarray(found.predict_proba(given.rows))
    truth = _Truth.of(given, found.classes_, label, data)
    if plot is not None and truth is None:
        raise ValueError(
            f"{data!r} does not tell its true classes, and --plot draws how many are recognised; "
            "name their column with --label"
        )
    told = shares.argmax(axis=1)
    document: dict[str, Any] = {"output": str(output), "rows": len(told), "split": part}
    columns = _probabilities(found.classes_, shares)
    lines = [f"{rows_of_part(len(told), data, part)} classified, written to {output}"]
    if truth is not None:
        document |= truth.document(told)
        lines.append(truth.line(told))
    how = {
        "start": (start or Start.empty).value,
        "progress": bool(voice.verbose),
        "random_state": seed or 0,
    }
    if limit is not None:
        decided = _decided(
            found, given, confidence=confidence or CONFIDENCE, ratio=ratio, events=limit, **how
        )
        columns |= _decisions(decided, len(told))
        document["decisions"] = None if decided is None else _summary(decided, truth)
        if decided is not None:
            lines.append(_decisions_line(decided, truth))
    _write(output, columns, given, truth)
    if plot is not None:
        document |= {"plot": str(plot), "curve": _draw(found, given, truth, plot, limit, how)}
        lines.append(f"accuracy against events: {plot}")
    voice.result({**document, **given.tell(voice)}, "\n".join(lines))
    if truth is not None:
        voice.say(truth.table(told))


def _check_rule(confidence: float | None, ratio: float | None) -> None:
    if confidence is not None and not 0 < confidence < 1:
        raise typer.BadParameter(
            f"{confidence} should be between 0 and 1", param_hint="--confidence"
        )
    if ratio is not None and not 1 < ratio < np.inf:
        raise typer.BadParameter(f"{ratio} should be above 1", param_hint="--ratio")


def _check_simulated(limit: int | None, **given: Any) -> None:
    """Complain of what is for a simulation, if none is asked for."""
    for name, value in given.items():
        if limit is None and value is not None:
            raise typer.BadParameter(
                "is for decisions spike by spike; give --events, too", param_hint=f"--{name}"
            )


def _check_plot(plot: Path | None, limit: int | None, force: bool, *inputs: str | Path) -> None:
    from lrnn.tables.atomic import check_apart

    if plot is None:
        return
    if limit is None:
        raise typer.BadParameter("give --events, up to which it is drawn", param_hint="--plot")
    check_named(plot, FIGURES, "--plot")
    check_apart(plot, *inputs)
    check_new(force, plot)


def _probabilities(classes: NDArray[Any], shares: NDArray[Any]) -> dict[str, Any]:
    """Columns: the most probable class, its probability, and those of all."""
    each = {f"probability of {name}": share for name, share in zip(classes, shares.T, strict=True)}
    told = {"predicted": classes[shares.argmax(axis=1)], "probability": shares.max(axis=1)}
    return told | each


def _decided(model: Any, given: Given, **how: Any) -> Any:
    """What is decided spike by spike; None, with a warning, if no row can be expected to decide."""
    from lrnn.analysis.decisions import UndecidableError
    from lrnn.tables.messages import SettingWarning, warn

    try:
        return model.decide(given.rows, **how)
    except UndecidableError as error:
        warn(SettingWarning("nothing is decided spike by spike: {why}", why=error))
        return None


def _decisions(decided: Any, rows: int) -> dict[str, Any]:
    """Columns: the class in front, empty where no spike has come, and what it took."""
    if decided is None:
        nothing = np.full(rows, None, dtype=object)
        return {
            "decision": nothing,
            "decided": np.full(rows, "no"),
            "events": nothing,
            "output spikes": nothing,
        }
    labels = decided.labels
    if not decided.spikes.all():
        labels = labels.astype(object)
        labels[decided.spikes == 0] = None
    return {
        "decision": labels,
        "decided": np.where(decided.decided, "yes", "no"),
        "events": decided.events.round().astype(np.int64),
        "output spikes": decided.spikes,
    }


def _number(text: str | None) -> int:
    try:
        number = float((text or str(EVENTS)).replace("_", "").replace(",", ""))
        if number.is_integer() and 1 <= number <= 1e15:
            return int(number)
    except ValueError:
        pass
    raise typer.BadParameter(
        f"{text!r} should be a whole number from 1 to 1e15", param_hint="--events"
    )


def _classifier(path: Path, data: str) -> Any:
    from lrnn.estimators.classifier import LRNNClassifier

    found = model_for(path, data, autoencoder=False)
    if not isinstance(found, LRNNClassifier):
        raise ValueError(
            f"{str(path)!r} is an autoencoder, which knows no classes; lrnn fit {data} --classify "
            "--label COLUMN trains a classifier"
        )
    return found


@dataclass(frozen=True)
class _Truth:
    """The true classes of rows, and how the model's own are called.

    Attributes
    ----------
    labels : ndarray of str
        Of the rows: names of classes, or, of others, as their table has them.
    numbers : ndarray of int
        Which class of the model each is; UNKNOWN: none of them; UNLABELLED: it is not told.
    names : list of str
        Of the model's classes.
    """

    labels: NDArray[Any]
    numbers: NDArray[np.intp]
    names: list[str]

    @classmethod
    def of(cls, given: Given, classes: NDArray[Any], label: str | None, data: str) -> Any:
        """What the data tell of them; None, if they tell nothing."""
        from lrnn.tables.frame import as_text
        from lrnn.tables.labels import class_names
        from lrnn.tables.messages import warn

        told = given.classes
        if told is None:
            if label is not None:
                raise ValueError(f"{data!r} has no column {label!r} of classes")
            return None
        labelled = ~without_class(told)
        if not labelled.any():
            warn(f"{data!r}: no row has a label, so that nothing is said of accuracy")
            return None
        tell_unlabelled(~labelled, given.ledger.dropped, data, "the accuracy")
        numbers = numbered(told, classes, given.ledger.dropped, data, REMEDY)
        names = class_names(classes)
        texts = [
            names[n] if n >= 0 else as_text(cell) if sure else ""
            for cell, n, sure in zip(told, numbers, labelled, strict=True)
        ]
        return cls(np.array(texts, dtype=object), numbers, names)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a label; others are neither right nor wrong."""
        from lrnn.tables.labels import UNLABELLED

        return np.asarray(self.numbers != UNLABELLED)

    @property
    def strange(self) -> NDArray[np.bool_]:
        """Which rows have a label that is no class of the model."""
        return np.asarray(self.labelled & (self.numbers < 0))

    def right(self, told: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which rows are of the class that they are told to be of; of those that have a label."""
        return np.asarray(told == self.numbers)[self.labelled]

    def document(self, told: NDArray[np.intp]) -> dict[str, Any]:
        """Accuracy and confusions, as JSON can hold them."""
        return {
            "accuracy": float(self.right(told).mean()),
            "rows_without_label": int(np.count_nonzero(~self.labelled)),
            "classes": self.names,
            "confusion": self.confusion(told).tolist(),
        }

    def confusion(self, told: NDArray[np.intp]) -> NDArray[np.intp]:
        """How many rows of each class are told to be of each; the last are of no known class."""
        count = len(self.names)
        found = np.zeros((count + 1, count), dtype=np.intp)
        np.add.at(found, (self.numbers[self.labelled], told[self.labelled]), 1)
        return found if found[-1].any() else found[:-1]

    def line(self, told: NDArray[np.intp]) -> str:
        """Accuracy, for a person."""
        right = self.right(told)
        return f"accuracy {right.mean():.4f}: {right.sum():,} of {len(right):,} are right"

    def table(self, told: NDArray[np.intp]) -> Any:
        """What was taken for what; of many classes only the most frequent errors."""
        found = self.confusion(told)
        rows = [*self.names, "(other)"][: len(found)]
        if len(self.names) <= FEW_CLASSES:
            lines = [
                [name, *(f"{n:,}" if n else "·" for n in line)]
                for name, line in zip(rows, found, strict=True)
            ]
            return text_table(["true \\ predicted", *self.names], lines, "")
        errors = found.copy()
        np.fill_diagonal(errors, 0)
        order = np.argsort(errors, axis=None)[::-1][:SHOWN]
        pairs = [np.unravel_index(i, errors.shape) for i in order if errors.flat[i]]
        lines = [[rows[i], self.names[j], f"{errors[i, j]:,}"] for i, j in pairs]
        return text_table(["true", "predicted", "rows"], lines, "most frequent errors")


def _write(output: Path, columns: dict[str, Any], given: Given, truth: _Truth | None) -> None:
    """The columns, after the names of the rows and before their true classes."""
    from lrnn.tables.writers import write_blocks

    kept = len(columns["predicted"])
    numbers = np.arange(1, kept + len(given.ledger.dropped) + 1)
    name, cells = given.index or ("row", np.delete(numbers, given.ledger.dropped))
    before = {name: cells}
    own = given.rows.along.label or "label"
    after = {} if truth is None else {_free(own, before | columns): truth.labels}
    found = before | columns | after
    shape = (len(columns["predicted"]), len(found))
    write_blocks(output, [list(found.values())], shape, np.float64, list(found))


def _free(name: str, taken: dict[str, Any]) -> str:
    """A name for the true class that no other column has."""
    return f"true {name}" if name in taken else name


def _summary(decided: Any, truth: _Truth | None) -> dict[str, Any]:
    """What was decided, as JSON can hold it."""
    sure = decided.decided
    document = {
        "confidence": decided.confidence,
        "ratio": decided.ratio,
        "lead": decided.lead,
        "most_events": decided.limit,
        "start": decided.start,
        "decided": int(sure.sum()),
        "median_events": _median(decided.events[sure]),
        "median_expected_events": _median(decided.expected_events[sure]),
        "median_output_spikes": _median(decided.spikes[sure]),
        "agreement": _finite(decided.agreement),
        "interrupted": bool(decided.interrupted),
    }
    if truth is not None:
        known = truth.labelled
        right = truth.right(decided.counts.argmax(axis=1)) & (decided.spikes > 0)[known]
        document["accuracy"] = float(right.mean())
        both = right[sure[known]]
        document["accuracy_of_decided"] = float(both.mean()) if len(both) else None
    return document


def _median(values: NDArray[Any]) -> float | None:
    return _finite(np.median(values)) if len(values) else None


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _decisions_line(decided: Any, truth: _Truth | None) -> str:
    """What was decided, for a person: what was counted, and what theory says of it."""
    sure, told = decided.decided, _summary(decided, truth)
    first = f"spike by spike: {sure.sum():,} of {len(sure):,} rows decided"
    if truth is not None:
        all_rows = "all rows" if truth.labelled.all() else "all rows with a label"
        first += f"; accuracy {told['accuracy']:.4f} of {all_rows} as they stand"
    first += " (interrupted)" if decided.interrupted else ""
    if not sure.any():
        return first
    return "\n".join([first, _measured(decided, told), _theory(decided, told)])


def _measured(decided: Any, told: dict[str, Any]) -> str:
    """What was counted of the decisions, and whether they are enough to tell the confidence."""
    count, share = told["decided"], decided.agreement
    same, needed = round(share * count), rows_to_tell(decided.confidence)
    few = f"; {count:,} rows are too few to tell {100 * decided.confidence:g} % from less"
    return (
        f"  measured: in their median after {told['median_events']:,.0f} events and "
        f"{told['median_output_spikes']:,.0f} output spikes; {same:,} of {count:,} "
        f"({100 * share:.1f} %) are as without spikes"
        + (f"{few} ({needed:,} would do)" if count < needed else "")
    )


def _theory(decided: Any, told: dict[str, Any]) -> str:
    """What decisions take, and how sure they are, in the steady state of the network."""
    expected = told["median_expected_events"]
    after = "" if expected is None else f"after about {expected:,.0f} events; "
    best = "" if decided.ratio is None else f" whose best fires {decided.ratio:g} times as often"
    began = "" if decided.start == Start.stationary else " (these runs began at rest)"
    return (
        f"  by theory, in steady state{began}: {after}a row{best} is decided otherwise than "
        f"without spikes with a probability of at most {100 * (1 - decided.confidence):.3g} %"
    )


def rows_to_tell(confidence: float) -> int:
    """So many rows, all as expected, rule out (by 95 %) that fewer than this share are.

    >>> rows_to_tell(0.95), rows_to_tell(0.8)
    (59, 14)
    """
    return ceil(log(0.05) / log(confidence))


def _draw(
    model: Any, given: Given, truth: Any, plot: Path, limit: Any, how: dict[str, Any]
) -> list[tuple[int, float]]:
    """Accuracy against events as a figure, and as numbers."""
    from matplotlib.figure import Figure

    from lrnn import plots
    from lrnn.analysis.decisions import accuracy_by_events
    from lrnn.plots.axes import write_figure
    from lrnn.rows import some_of

    known = truth.numbers >= 0
    labels = model.classes_[truth.numbers[known]]
    rows = some_of(given.rows, np.flatnonzero(known))
    curve = accuracy_by_events(model, rows, labels, events=limit, **how)
    if strange := int(np.count_nonzero(truth.strange)):  # they are never right
        share = len(labels) / (len(labels) + strange)
        curve = replace(
            curve,
            right=np.pad(curve.right, ((0, 0), (0, strange))),
            exact=share * curve.exact,
            expected=share * np.asarray(curve.expected),
        )
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    plots.accuracy_by_events(curve, ax=figure.add_subplot())
    write_figure(figure, plot)
    return list(zip(curve.events.tolist(), curve.accuracy.tolist(), strict=True))
