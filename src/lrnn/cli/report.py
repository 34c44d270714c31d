"""``lrnn report``: one page about a model."""

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.commands import in_options
from lrnn.cli.inputs import (
    DataOf,
    Given,
    ModelOf,
    SplitOf,
    given_for,
    is_classifier,
    is_detector,
    load_model,
    model_for,
    numbers_explained,
    part_taken,
    rows_of_part,
)
from lrnn.cli.judging import Judged, judge
from lrnn.cli.labels import numbered, tell_unlabelled, without_class
from lrnn.cli.outputs import Force, check_new, named_after
from lrnn.cli.voice import Json, Quiet, Voice


def report(
    model: ModelOf,
    data: DataOf,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The folder, into which index.html is written; by default MODEL-report, here.",
        ),
    ] = None,
    row: Annotated[
        int | None, typer.Option(min=1, help="Which row is shown as spikes; the first by default.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Another model of the same data to compare with; may be repeated."),
    ] = None,
    frontier: Annotated[
        Path | None,
        typer.Option(help="The folder that lrnn frontier has written for the same data."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    split: SplitOf = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a page that shows what a model has learnt, and that it is a valid spiking network.

    It is one file, needs no network, and can be sent to a colleague: reconstructions and parts, or
    of a classifier what it recognises and where it is mistaken, of an outlier detector which rows
    are strange and why, learning curves, sparsity, the audit in plain words, the simulation beside
    the numbers, firing rates, and how it was made.

    Examples:

        lrnn report digits.safetensors digits -o digits-report --open

        lrnn report wine.safetensors wine.csv -o wine-report --against printed.safetensors

        lrnn report mnist.safetensors mnist --split test

        lrnn report digits-frontier/models/3.safetensors digits --frontier digits-frontier -o page
    """
    from lrnn.report import Subject
    from lrnn.tables.atomic import check_apart

    voice = Voice(quiet, as_json)
    output = output or named_after(model, "-report")
    check_folder(output)
    check_apart(output, data)
    check_apart(output / "index.html", model, data, *(against or []))
    check_new(force, output / "index.html")
    found = model_for(model, data, autoencoder=False, detector=True)
    if is_detector(found):
        _check_of_detector(model, against=against, frontier=frontier, row=row)
        part = part_taken(data, split)
        _report_detection(found, data, part, output, voice, seed)
        if open_it:
            typer.launch((output / "index.html").resolve().as_uri())
        return
    if is_classifier(found) and frontier is not None:
        raise typer.BadParameter(
            f"{str(model)!r} is a classifier, and a frontier is of autoencoders",
            param_hint="--frontier",
        )
    part = part_taken(data, split)
    given = given_for(found, data, voice, part)
    if is_classifier(found):
        _tell_labels(found, given, data)
    place = None if row is None else given.row(row, data)
    others = {str(path): _beside(path, found, data, part, voice) for path in against or []}
    drawn, known = (None, {}) if frontier is None else _read_frontier(frontier, found)
    names = getattr(found, "feature_names_in_", given.names)
    left_out = in_options(given.ledger.warning()) if given.ledger else ""
    subject = Subject(
        found,
        given.rows,
        name=(Path(data).name or data) + ("" if part is None else f" ({part})"),
        command=shlex.join(["lrnn", *sys.argv[1:]]),
        image_shape=given.image_shape,
        attributes=None if names is None else tuple(map(str, names)),
        row=place,
        against=others,
        seed=seed,
        frontier=drawn,
        known=known,
        classes=given.classes,
        label=given.label,
        remarks=tuple(filter(None, (left_out, given.ledger.filling))),
    )
    with numbers_explained(data, fitting=False):
        page = write(subject, output, voice)
    rows = rows_of_part(given.rows.shape[0], data, part)
    voice.result(
        {
            "report": str(page),
            "rows": given.rows.shape[0],
            "split": part,
            "valid": subject.audit.valid,
            **given.tell(voice),
        },
        f"report{'' if part is None else f' on {rows}'}: {page}",
    )
    if open_it:
        typer.launch(page.resolve().as_uri())


def _beside(path: Path, model: Any, data: str, part: str | None, voice: Voice) -> Any:
    """Another model, with the same data as it takes them by itself."""
    from lrnn.report import Subject
    from lrnn.tables.messages import TableError, warn

    found = load_model(path, autoencoder=False)
    if is_classifier(found) != is_classifier(model):
        raise ValueError(
            f"{str(path)!r} is {'a classifier' if is_classifier(found) else 'an autoencoder'}, "
            "which cannot be compared with a model of the other kind"
        )
    try:
        given = given_for(found, data, voice, part)
    except ValueError as error:
        raise TableError("cannot take these data: {why}", source=str(path), why=error) from None
    if given.ledger:
        warn(given.ledger.warning(str(path)))
    return Subject(found, given.rows, name=str(path), command="", classes=given.classes)


def _check_of_detector(path: Path, **given: Any) -> None:
    """Complain of options that say nothing to an outlier detector."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter(
                f"{str(path)!r} is an outlier detector, whose page has nothing of that kind",
                param_hint=f"--{name}",
            )


def _report_detection(
    model: Any, data: str, part: str | None, output: Path, voice: Voice, seed: int
) -> None:
    """The page of an outlier detector, for data that it judges."""
    judged = judge(model, data, voice, split=part)
    name = (Path(data).name or data) + ("" if part is None else f" ({part})")
    ledger = judged.given.tell(voice)
    command = shlex.join(["lrnn", *sys.argv[1:]])
    page = detection_page(model, judged, output, voice, name, command, seed)
    count = len(judged.scores)
    on = "" if part is None else f" on {rows_of_part(count, data, part)}"
    voice.result(
        {
            "report": str(page),
            "rows": count,
            "split": part,
            "outliers": int(judged.outliers.sum()),
            "valid": bool(model.audit().valid),
            **ledger,
        },
        f"report{on}: {page}",
    )


def detection_page(
    model: Any, judged: Judged, folder: Path, voice: Voice, name: str, command: str, seed: int
) -> Path:
    """Write the page on rows that an outlier detector has judged."""
    from lrnn.report import Findings, Subject

    given = judged.given
    remark = in_options(given.ledger.warning()) if given.ledger else ""
    names = getattr(model, "feature_names_in_", given.names)
    subject = Subject(
        model.autoencoder_,
        given.rows,
        name=name,
        command=command,
        image_shape=given.image_shape,
        attributes=None if names is None else tuple(map(str, names)),
        row=int(judged.places[0]),
        seed=seed,
        remarks=(remark,) if remark else (),
        findings=Findings(
            model, -judged.scores, judged.outliers, judged.strangest, judged.places, judged.names
        ),
    )
    return write(subject, folder, voice)


def _tell_labels(model: Any, given: Given, data: str) -> None:
    """Which rows cannot be told right: those without a label, and of classes it does not know."""
    if given.classes is not None:
        lacking = without_class(given.classes)
        tell_unlabelled(lacking, given.ledger.dropped, data, "the accuracy")
        numbered(given.classes, model.classes_, given.ledger.dropped, data)


def _read_frontier(folder: Path, model: Any) -> tuple[Any, dict[str, float]]:
    """What ``lrnn frontier`` has written, if it is of networks as wide as the model."""
    from lrnn.analysis.frontiers import Frontier

    path = folder / "frontier.json"
    if not path.exists():
        raise FileNotFoundError(f"there is no {str(path)!r}; lrnn frontier writes it")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = Frontier.from_json(document)
        known = {str(name): float(error) for name, error in document.get("paper", {}).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from None
    width = found.structures[0][0]
    inputs = model.weights_.sizes[0]
    if width != inputs:
        raise ValueError(
            f"{str(path)!r} is of networks for {width} attributes, the model for {inputs}"
        )
    return found, known


def check_folder(output: Path) -> None:
    """Complain of a folder that cannot be one, before any work is done for it."""
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{str(output)!r} is a file; give the name of a folder")


def write(subject: Any, folder: Path, voice: Voice) -> Path:
    """Write the report with a progress bar."""
    from lrnn.progress import work_bar
    from lrnn.report import sections_of, write_report

    sections = len(sections_of(subject))
    with work_bar("writing the report", sections, bool(voice.verbose)) as progress:
        return write_report(subject, folder, progress)
