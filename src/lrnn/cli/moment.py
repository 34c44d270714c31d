"""``lrnn moment``: sums over data, in a file; and the model that is trained on such a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import ToTrainOn, numbers_explained, table_for, tell
from lrnn.cli.outputs import Force, check_named, check_new, named_after
from lrnn.cli.tables import (
    KnownCells,
    TableOptions,
    allow_not_offered,
    scale_note,
    takes_tables,
)
from lrnn.cli.voice import Json, Quiet, Voice

FILL = (
    "lrnn impute fills them, or sum up all data anew, without --like, with --missing median or drop"
)


@takes_tables(missing=KnownCells)
def moment(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA…", help="Data, as lrnn fit takes them; or moments to add or subtract."
        ),
    ],
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The moment; by default DATA-moment.safetensors."),
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add moments up.")] = False,
    subtract: Annotated[
        bool, typer.Option("--subtract", help="Take those that follow from the first moment.")
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            help="A moment, or a model, whose columns and scaling to take: moments of the same "
            "scaling add."
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Sum up data, so that models can be trained without them.

    A moment holds the sums over all rows that training needs, as many numbers as attributes
    squared, and [bold]lrnn fit[/bold] takes it in the place of data. Moments of the same columns
    and scaling add up to that of all their rows, and can be subtracted again. The scaling is that
    of [bold]--like[/bold], or made from the first of the data; what lies beyond it is cut off, and
    counted. Such sums are not private in themselves: those of few rows tell much of them.

    Examples:

        lrnn moment monday.csv -o monday.safetensors --label class

        lrnn moment tuesday.csv -o tuesday.safetensors --like monday.safetensors

        lrnn moment --add monday.safetensors tuesday.safetensors -o both.safetensors

        lrnn moment --subtract both.safetensors monday.safetensors -o rest.safetensors

        lrnn fit both.safetensors -o model.safetensors --hidden 7
    """
    from lrnn.tables.atomic import check_apart, sole_writer

    voice = Voice(quiet, as_json)
    output = output or named_after(sources[0], "-moment.safetensors")
    check_named(output)
    check_apart(output, *sources)
    check_new(force, output)
    ledger: dict[str, Any] = {}
    note = ""
    if add or subtract:
        _check_alone(add and subtract, like, options)
        found = _combined([Path(source) for source in sources], subtract)
    else:
        _check_data(sources)
        known = None if like is None else _known(like, options)
        moments = []
        for source in sources:
            if known is None:
                with allow_not_offered():
                    first, ledger[source] = _first(source, options, voice)
                note, known = scale_note(options.scale, first.scaling), _as_known(first)
                moments.append(first)
            else:
                with _gaps_refused(source):
                    following, ledger[source] = _following(source, known, voice)
                moments.append(following)
        found = moments[0].merge(moments)
    with sole_writer(output):
        check_new(force, output)  # another process may have been quicker
        found.save(output)
    cut_off = {"cut_off": ledger} if ledger else {}
    voice.result(
        {"moment": str(output), **described(found), **cut_off},
        f"{found}\n{note}written to {output}",
    )


def described(moment: Any) -> dict[str, Any]:
    """What a moment is of."""
    scaling = "none" if moment.scaling is None else moment.scaling.kind
    return {
        "rows": moment.n_rows,
        "weight": moment.weight,
        "attributes": moment.shape[1],
        "scale": scaling,
        "white": moment.white,
        "ranges": moment.high is not None,
    }


def moment_in(source: str, options: TableOptions, *, on_workers: bool, resume: bool) -> Any:
    """The moment that a file holds; None if the source is something else."""
    if Path(source).suffix != ".safetensors":
        return None
    import lrnn
    from lrnn.storage.moment_files import is_moment

    if not is_moment(source):
        return None
    _check_no_tables(options)
    for given, name in ((on_workers, "--dask, --workers"), (resume, "--resume, --restart")):
        if given:
            raise typer.BadParameter("is for data, not for a moment", param_hint=name)
    return lrnn.load_moment(source)


def check_no_rows_needed(**asked: bool) -> None:
    """Complain of options by which training would go through rows, for a moment has none."""
    for name, needed in asked.items():
        if needed:
            raise typer.BadParameter(
                "trains on rows, and this is a moment, which holds none; leave it out, or give the "
                "data instead",
                param_hint=f"--{name.replace('_', '-')}",
            )


def bound_note(model: Any) -> str:
    """What comes before an error that is a bound."""
    return "at most " if model.error_is_bound_ else ""


def inspect_moment(path: Path, voice: Voice) -> None:
    """Show what a file with a moment is of."""
    import lrnn

    found = lrnn.load_moment(path)
    width = found.shape[1]
    weight = found.weight or 1.0
    mean = found.column_sums / weight
    square = float(found.gram.trace()) / weight / width
    variance = max(square - float(mean @ mean) / width, 0.0)
    names = None if found.names is None else list(found.names)
    told = (
        ""
        if names is None
        else f"\ncolumns {', '.join(names[:10])}"
        + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    )
    ranges = "known" if found.high is not None else "not known: rows were subtracted"
    voice.result(
        {
            "file": str(path),
            **described(found),
            "names": names,
            "mean": float(mean.mean()),
            "mean_square": square,
            "variance": variance,
        },
        f"{path}: {found}\nmean {mean.mean():.5f}, mean square {square:.5f}, variance "
        f"{variance:.5f} by attribute, in [0, 1]; ranges {ranges}{told}",
    )


def _check_alone(both: bool, like: Path | None, options: TableOptions) -> None:
    if both:
        raise typer.BadParameter("give one of them, not both", param_hint="--add, --subtract")
    if like is not None:
        raise typer.BadParameter("is for data, not for moments", param_hint="--like")
    _check_no_tables(options)


def _check_no_tables(options: TableOptions) -> None:
    given = options.given
    if given:
        raise typer.BadParameter(
            "is for tables; a moment is already of certain columns, in a certain scaling",
            param_hint=", ".join(given),
        )


def _check_data(sources: list[str]) -> None:
    for source in sources:
        if Path(source).suffix == ".safetensors" and Path(source).is_file():
            raise typer.BadParameter(
                f"{source!r} is no data; give --add or --subtract to combine moments",
                param_hint="DATA",
            )


def _combined(paths: list[Path], subtract: bool) -> Any:
    from lrnn.moments.moment import OtherScalingError

    if len(paths) < 2:
        raise typer.BadParameter("give two moments at least", param_hint="--add, --subtract")
    for path in paths:
        if path.exists() and path.suffix != ".safetensors":
            raise typer.BadParameter(
                f"{str(path)!r} is data, not a moment; run lrnn moment on it first",
                param_hint="--add, --subtract",
            )
    first, *others = (_moment(path) for path in paths)
    try:
        if not subtract:
            return first.merge([first, *others])
        for other in others:
            first = first - other
    except OtherScalingError as error:
        remedy = "sum up the data again, all with --like {first}"
        raise error.but(remedy=remedy, first=str(paths[0])) from None
    return first


def _moment(path: Path) -> Any:
    """The moment in a file that should hold one."""
    import lrnn
    from lrnn.storage.model_files import ModelFileError
    from lrnn.storage.moment_files import MomentFileError

    try:
        return lrnn.load_moment(path)
    except MomentFileError as error:
        try:
            lrnn.load(path)
        except ModelFileError:
            raise error from None
    raise ValueError(f"{str(path)!r} holds a model, not a moment; lrnn moment DATA makes one")


@contextmanager
def _gaps_refused(source: str) -> Iterator[None]:
    """Missing cells where the scaling is known: the remedies that hold here are named."""
    from lrnn.tables.messages import UnfitNumbersError

    try:
        yield
    except UnfitNumbersError as error:
        if error.kind != "missing":
            raise
        problem = "{at} is missing{more}, and a moment takes no such cells"
        raise error.but(problem=problem, remedy=FILL, source=source) from None


def _known(path: Path, options: TableOptions) -> SimpleNamespace:
    """What is known of columns from a moment or a model."""
    import lrnn
    from lrnn.storage.moment_files import is_moment

    _check_no_tables(options)
    if is_moment(path):
        return _as_known(lrnn.load_moment(path))
    model = lrnn.load(path)
    names, scaling = getattr(model, "feature_names_in_", None), model.scaling_
    if scaling is not None and scaling.recipe is not None and scaling.recipe.missing == "allow":
        scaling = replace(scaling, recipe=replace(scaling.recipe, missing="refuse"))
    return SimpleNamespace(
        scaling_=scaling, n_features_in_=model.n_features_in_, feature_names_in_=names
    )


def _as_known(found: Any) -> SimpleNamespace:
    from lrnn.tables.scaling import attribute_count

    return SimpleNamespace(
        scaling_=found.scaling,
        n_features_in_=attribute_count(found.scaling, found.shape[1]),
        feature_names_in_=found.names,
    )


def _first(source: str, options: TableOptions, voice: Voice) -> tuple[Any, Any]:
    """The moment of data whose scaling is made here, as `lrnn fit` does; and what was cut off."""
    from lrnn.moments import Moment

    taken = ToTrainOn.of(source, options, voice)
    with taken.explained(), voice.working(f"summing up {source}"):
        found = Moment.of(taken.table, scale=taken.scaling)
    return found, tell(taken.table.ledger, voice)["cut_off"]


def _following(source: str, known: SimpleNamespace, voice: Voice) -> tuple[Any, Any]:
    """The moment of data whose columns and scaling are known; and what was cut off."""
    from lrnn.moments import Moment

    table = table_for(known, source, voice)
    with numbers_explained(source), voice.working(f"summing up {source}"):
        found = Moment.of(table, scale=known.scaling_)
    names = known.feature_names_in_
    named = None if names is None else tuple(map(str, names))
    return replace(found, names=found.names or named), tell(table.ledger, voice)["cut_off"]
