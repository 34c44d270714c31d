"""``lrnn fit --classify``: train a classifier."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from lrnn.cli.inputs import (
    Given,
    ToTrainOn,
    check_rows,
    given_for,
    going_on,
    hidden_sizes,
    load_model,
    say_how_to_go_on,
    table_for,
    tell,
)
from lrnn.cli.labels import (
    check_classes,
    numbered,
    tell_unlabelled,
    without_class,
)
from lrnn.cli.model_place import ModelPlace
from lrnn.cli.tables import TableOptions, allow_not_offered, scale_note
from lrnn.cli.voice import Voice
from lrnn.tables.messages import columns_listed

PANEL = "Recognition: with --classify"
HIDDEN = (300,)  # neurons, unless it is said how many
DEAR = 1e7  # firings per output spike: a decision of ten of them takes a core ten seconds

ClassWeight = StrEnum("ClassWeight", ["none", "balanced"])


def recognition_option(*names: str, **more: Any) -> Any:
    """An option of ``lrnn fit`` that is for classifiers."""
    return typer.Option(*names, rich_help_panel=PANEL, **more)


@dataclass(frozen=True)
class Recognising:
    """What is said of a classifier alone."""

    label_smoothing: float
    dropout: float
    class_weight: ClassWeight
    pretrain: Path | None
    freeze: bool
    test: str | None

    def check(self, classify: bool, of_autoencoders: dict[str, bool]) -> None:
        """Complain of options that are for the other kind of model, and have been given."""
        own = {
            "--label-smoothing": self.label_smoothing != 0,
            "--dropout": self.dropout != 0,
            "--class-weight": self.class_weight is not ClassWeight.none,
            "--pretrain": self.pretrain is not None,
            "--freeze": self.freeze,
            "--test": self.test is not None,
        }
        for option, given in (of_autoencoders if classify else own).items():
            if given:
                kind = "an autoencoder; leave it out, or --classify" if classify else "--classify"
                raise typer.BadParameter(f"is for {kind}", param_hint=option)
        if self.freeze and self.pretrain is None:
            raise typer.BadParameter(
                "needs --pretrain MODEL, an autoencoder whose layers stay", param_hint="--freeze"
            )


@dataclass(frozen=True)
class Labelled:
    """Rows in [0, 1] and their classes, and what is known of both.

    Attributes
    ----------
    given : Given
        The data.
    rows : Rows
        Those that have a class.
    classes : ndarray
        The class of each of them.
    unlabelled : int
        How many others were left out.
    """

    given: Given
    rows: Any
    classes: NDArray[Any]
    unlabelled: int

    @classmethod
    def of(cls, given: Given, source: str, learnt: NDArray[Any] | None = None) -> "Labelled":
        """Rows that have a class; others are left out, and told of.

        Rows to test with should be of the classes that were ``learnt``.
        """
        from lrnn.rows import some_of
        from lrnn.tables.labels import as_classes

        found = given.classes
        if found is None:
            raise _no_classes(given, source)
        lacking = without_class(found)
        count, total = int(np.count_nonzero(lacking)), len(lacking)
        if count == total:
            raise ValueError(f"{_place(given, source)}: no row has a label")
        tell_unlabelled(lacking, given.ledger.dropped, source)
        rows = some_of(given.rows, np.flatnonzero(~lacking)) if count else given.rows
        known = [cell for cell, gone in zip(found, lacking, strict=True) if not gone]
        if learnt is None:
            return cls(given, rows, as_classes(known), count)
        numbered(found, learnt, given.ledger.dropped, source)
        return cls(given, rows, np.array(known, dtype=object), count)

    def accuracy(self, model: Any) -> float:
        """The share of rows that a model puts into their classes."""
        from lrnn.tables.labels import class_numbers

        found = np.argmax(model.predict_proba(self.rows), axis=1)
        return float(np.mean(found == class_numbers(self.classes, model.classes_)))


def _no_classes(given: Given, source: str) -> Exception:
    label = given.scaling.recipe and given.scaling.recipe.label
    if label is not None:
        return ValueError(f"{source!r} has no column {label!r}, the class of the rows")
    columns = (
        f"; its columns are {columns_listed([*map(str, given.names)])}"
        if given.names is not None
        else ""
    )
    return typer.BadParameter(
        f"{source!r} does not tell classes: name the column that does with --label{columns}",
        param_hint="--classify",
    )


def _place(given: Given, source: str) -> str:
    label = given.rows.along.label
    return repr(source) if label is None else f"{source!r}, column {label!r}"


def fit_classifier(
    data: str,
    options: TableOptions,
    recognising: Recognising,
    hidden: str | None,
    parameters: dict[str, Any],
    place: ModelPlace,
    checkpoint: float,
    voice: Voice,
) -> None:
    """Train a classifier on data, write it, and tell how well it recognises."""
    from lrnn import checkpoints
    from lrnn.estimators.classifier import LRNNClassifier
    from lrnn.rows.validation import check_data

    check_rows(data)
    _check_missing(options)
    encoder = None if recognising.pretrain is None else _encoder(recognising.pretrain, options)
    with allow_not_offered():
        taken = _taken(data, options, encoder, _part(data, "train"), voice)
    scaling, attributes = taken.scaling, taken.attributes
    sizes = _sizes(hidden, attributes, encoder)
    model = LRNNClassifier(
        sizes,
        pretrain=encoder,
        freeze=recognising.freeze,
        label_smoothing=recognising.label_smoothing,
        dropout=recognising.dropout,
        class_weight="balanced" if recognising.class_weight is ClassWeight.balanced else None,
        scale=scaling,
        verbose=voice.verbose,
        **parameters,
    )
    with taken.explained(), voice.working(f"reading {data}"):
        given = Given(check_data(model, taken.table, reset=True), taken.table, scaling)
    rows = Labelled.of(given, data)
    check_classes(rows.classes, _place(given, data))
    tested = _test_rows(data, recognising.test, model, rows, voice)
    with place.alone(voice), taken.explained(), going_on(place.unfinished, voice):
        checkpoints.fit(
            model,
            rows.rows,
            place.unfinished,
            y=rows.classes,
            every=checkpoint,
            resume=bool(place.resume),
        )
        interrupted = place.save(model)
    count = rows.rows.shape[0]
    accuracy = rows.accuracy(model)
    spikes = model.spikes_per_decision(rows.rows)
    test_accuracy = None if tested is None else tested.accuracy(model)
    held_out = model.history_[-1].lowest if model.early_stopping else None
    words = " → ".join(map(str, model.weights_.sizes))
    on_held_out = "" if held_out is None else f" ({held_out:.5f} of rows held out)"
    on_test = "" if tested is None else f", {test_accuracy:.4f} on {len(tested.classes)} test rows"
    voice.result(
        {
            "model": str(place.output),
            "rows": count,
            "attributes": attributes,
            "hidden": list(sizes),
            "classes": model.classes_.tolist(),
            "scale": scaling.kind,
            "complemented": scaling.complemented,
            "accuracy": accuracy,
            "test_accuracy": test_accuracy,
            "test_rows": None if tested is None else len(tested.classes),
            "loss": model.loss_,
            "held_out_loss": held_out,
            "spikes_per_decision": spikes if np.isfinite(spikes) else None,
            "spike_cost": model.spike_cost_,
            "rows_without_label": rows.unlabelled,
            "interrupted": interrupted,
            **tell(given.ledger, voice),
        },
        f"{count} rows of {len(model.classes_)} classes, {words} neurons: accuracy {accuracy:.4f}"
        f"{on_test}; cross-entropy {model.loss_:.5f}{on_held_out}; {spikes:.3g} firings per output "
        "spike\n"
        f"{_hidden_note(hidden, sizes)}"
        f"{scale_note(options.scale, scaling) if encoder is None else ''}"
        f"{_complement_note(options, given) if encoder is None else ''}"
        f"written to {place.output}\n"
        f"lrnn classify {place.output} DATA tells the classes of other rows, lrnn report "
        f"{place.output} {data} what it has learnt",
    )
    if interrupted:
        say_how_to_go_on(place.unfinished, voice)
    elif spikes > DEAR and not parameters["spike_penalty"]:
        voice.note(
            f"its spikes are free, and an output spike takes {spikes:.1e} firings, too many to "
            "simulate decisions; --spike-penalty 0.01 makes a network with far fewer, nearly as "
            "accurate"
        )


def _check_missing(options: TableOptions) -> None:
    if options.gaps:
        raise typer.BadParameter(
            f"{options.missing!r} is for an autoencoder, and a classifier takes no missing cells: "
            "drop leaves their rows out, median fills them, and lrnn impute fills a file before",
            param_hint="--missing",
        )


def _encoder(path: Path, options: TableOptions) -> Any:
    """An autoencoder; columns and scaling are as it remembers."""
    others = [option for option in options.given if option not in ("--label", "--index")]
    if others:
        raise typer.BadParameter(
            "with --pretrain the data are taken and scaled as that model remembers; leave it out",
            param_hint=", ".join(others),
        )
    found = load_model(path)
    if found.missing != "refuse":
        raise typer.BadParameter(
            f"{str(path)!r} was trained with --missing {found.missing}, which fills cells that a "
            "classifier takes none of; train one on complete rows",
            param_hint="--pretrain",
        )
    return found


def _part(data: str, part: str) -> str | None:
    """A part of a data set that comes in parts; None for all else."""
    from lrnn.datasets import DATA_SETS

    in_parts = not Path(data).exists() and data in DATA_SETS and "test" in DATA_SETS[data].splits
    return part if in_parts else None


def _taken(
    data: str, options: TableOptions, encoder: Any, split: str | None, voice: Voice
) -> ToTrainOn:
    """The table, and how it is to be taken: as an encoder remembers, if there is one."""
    from lrnn.tables.scaling import Scaling

    if encoder is None:
        table = options.open(data, voice, split)
        scaling = options.scaling(table, data, voice)
        if options.complement is None and scaling.kind == "minmax":  # as LRNNClassifier does
            scaling = replace(scaling, complemented=True)
        return ToTrainOn(table, scaling, data)
    beside = {"label": options.label, "index": options.index}
    table = table_for(encoder, data, voice, split, **beside)
    scaling, known = encoder.scaling_ or Scaling("none"), getattr(encoder, "feature_names_in_", ())
    own = {"label": table.label, "index": table.index}
    recipe = scaling.columns_of(table.data, table.names, list(map(str, known)), **own)[1]
    return ToTrainOn(table, replace(scaling, recipe=recipe), data)


def _sizes(text: str | None, attributes: int, encoder: Any) -> tuple[int, ...]:
    """Sizes of the hidden layers; behind an encoder there may be none."""
    if text is None:
        return HIDDEN
    if text.strip() == "0":
        if encoder is not None:
            return ()
        raise typer.BadParameter(
            "0 hidden layers are for --pretrain MODEL, behind whose layers the classes may stand; "
            "give a number of neurons, such as 300",
            param_hint="--hidden",
        )
    if "+" in text:
        raise typer.BadParameter(
            f"{text!r}: + is for autoencoders, which have layers behind the code; give sizes of "
            "hidden layers, such as 300 or 300-100",
            param_hint="--hidden",
        )
    return hidden_sizes(text, attributes)


def _hidden_note(text: str | None, sizes: tuple[int, ...]) -> str:
    if text is not None:
        return ""
    return f"{sizes[-1]} hidden neurons, as nobody said how many; --hidden chooses another number\n"


def _complement_note(options: TableOptions, given: Given) -> str:
    """Whether the network sees complements, where nobody has said so."""
    if options.complement is not None:
        return ""
    if given.scaling.complemented:
        return "the network sees each x beside 1 − x; --no-complement shows it x alone\n"
    table = given.names is not None and given.image_shape is None
    if not table or given.scaling.kind != "none":
        return ""
    return (
        "the columns are in [0, 1] already, and the network sees each x alone; --complement shows "
        "it 1 − x, too, which mostly helps where low numbers mean as much as high ones\n"
    )


def _test_rows(
    data: str, test: str | None, model: Any, rows: Labelled, voice: Voice
) -> Labelled | None:
    """Rows that are not trained on, if there are any."""
    from lrnn.tables.messages import warn

    split = _part(data, "test") if test is None else None
    source = data if split is not None else test
    if source is None:
        return None
    found = Labelled.of(given_for(model, source, voice, split), source, np.unique(rows.classes))
    if found.given.ledger:
        warn(found.given.ledger.warning(source))
    return found
