"""``lrnn live``: a page in which a network runs."""

from math import isqrt
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import (
    Split,
    SplitOf,
    given_for,
    load_model,
    model_file,
    model_for,
    part_taken,
)
from lrnn.cli.outputs import Force, check_named, check_new
from lrnn.cli.voice import Json, Quiet, Voice
from lrnn.tables.messages import in_bytes

LARGE = 32 << 20  # bytes of a page that browsers take long to open


def live(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL", callback=model_file, help="A model; by default that of lrnn demo."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Its data: a file or a data set's name, as for lrnn report."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page, such as live.html; without it a browser opens one."
        ),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(min=0, help="How many rows of DATA are put into the page, the first ones."),
    ] = 0,
    shape: Annotated[
        str | None,
        typer.Option(help="Height and width of images, such as 28x28, if DATA do not tell."),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="Another model to run on the same input beside it; may be repeated."),
    ] = None,
    split: SplitOf = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Let a network run spike by spike before your eyes, in a page that is one file.

    The page needs no server and no network: it can be mailed, and opened on a phone. One draws an
    input or moves sliders, sees every spike, turns neurons by hand, or switches them off. Beside
    weights it holds only such rows of DATA as --rows asks for.

    Examples:

        lrnn live

        lrnn live digits.safetensors digits --rows 20 -o live.html

        lrnn live dear.safetensors digits --against free.safetensors -o both.html

        lrnn live wine.safetensors wine.csv --rows 5 -o wine.html --open
    """
    voice = Voice(quiet, as_json)
    if output is not None:
        check_named(output, (".html",))
        check_new(force, output)
    if model is None:
        made, facts = _demo(seed, voice)
    else:
        made, facts = _made(model, data, rows, shape, against or [], split, seed, voice)
    size = len(made.html.encode())
    if output is None:
        path = made.show()
    else:
        path = made.save(output)
        if open_it:
            typer.launch(path.resolve().as_uri())
    if size > LARGE:
        voice.note(f"{path} has {in_bytes(size)}: browsers take long to open it")
    held = facts["rows"]
    told = f"{held:,} row{'s' * (held != 1)} of the data" if held else "no row of any data"
    if data is not None and not held:
        told += " (--rows 20 puts the first 20 in)"
    voice.result(
        {"page": str(path), "bytes": size, **facts},
        f"live: {path} ({in_bytes(size)}), with the weights of "
        f"{' and '.join(facts['models'])}, and {told}",
    )


def _demo(seed: int, voice: Voice) -> tuple[Any, dict[str, Any]]:
    """The page of the demo's models, trained for it."""
    from lrnn.cli.demo import LIVE_ROWS, demo_page, train
    from lrnn.datasets import load

    models = train(load("digits").data, 16, 0, voice)
    return demo_page(models, seed), {"models": list(models), "rows": LIVE_ROWS}


def _made(
    path: Path,
    data: str | None,
    rows: int,
    shape: str | None,
    against: list[Path],
    split: Split | None,
    seed: int,
    voice: Voice,
) -> tuple[Any, dict[str, Any]]:
    """The page of models in files."""
    import numpy as np

    from lrnn.live import LivePage, Scene, live_page
    from lrnn.live.drawing import MOST_ROWS, frame_of
    from lrnn.rows import attributes_of

    if data is None and (rows or split is not None):
        raise typer.BadParameter("there are no DATA to take rows of", param_hint="--rows")
    models = _models(path, data, against)
    model = models[str(path)]
    scaling, told, image_shape = model.scaling_, {}, _shape(shape)
    labels: list[str] = []
    frame: dict[str, Any] | None = None
    held: Any = np.empty((0, model.n_features_in_))
    if data is not None:
        given = given_for(model, data, voice, part_taken(data, split))
        image_shape = image_shape or given.image_shape
        own = attributes_of(given.rows).in_memory()
        gaps = _gaps(given.cells(slice(rows)))
        held = _dense(own.take(slice(rows)))
        if image_shape is not None:
            frame = frame_of(_dense(own.take(slice(MOST_ROWS))), image_shape)
        told = given.tell(voice)
        labels = _labels(given, gaps)
    if image_shape is not None and np.prod(image_shape) != model.n_features_in_:
        raise typer.BadParameter(
            f"{shape or image_shape} are {np.prod(image_shape)} pixels, and {str(path)!r} is a "
            f"model for {model.n_features_in_}",
            param_hint="--shape",
        )
    if image_shape is None and data is None:
        for colours, more in ((1, ""), (3, "x3")):
            side = isqrt(model.n_features_in_ // colours)
            if side > 7 and colours * side**2 == model.n_features_in_:
                voice.note(f"if rows are images, --shape {side}x{side}{more} shows them so")
    names = getattr(model, "feature_names_in_", None)
    stems = {Path(file).stem: found for file, found in models.items()}
    scene = Scene(
        stems if len(stems) == len(models) else models,
        held,
        name=data or "",
        image_shape=image_shape,
        attributes=None if names is None else tuple(map(str, names)),
        scaling=scaling,
        row_names=labels,
        frame=frame,
        seed=seed,
    )
    page = LivePage(live_page(scene, title=f"{path.stem}, live"))
    return page, {"models": list(scene.models), "rows": len(held), **told}


def _models(path: Path, data: str | None, against: list[Path]) -> dict[str, Any]:
    """By their files; all for the same attributes, brought into [0, 1] alike."""
    from lrnn.live.packing import check_alike

    if data is None:
        first = load_model(path, autoencoder=False)
    else:
        first = model_for(path, data, autoencoder=False)
    models = {str(path): first}
    models |= {str(other): load_model(other, autoencoder=False) for other in against}
    check_alike(models)
    return models


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    words = text.lower().replace("×", "x").split("x")
    if len(words) not in (2, 3) or not all(word.isdigit() and int(word) for word in words):
        raise typer.BadParameter(
            f"{text!r} should be height and width, such as 28x28, or 32x32x3", param_hint="--shape"
        )
    return tuple(map(int, words))


def _dense(rows: Any) -> Any:
    import numpy as np
    from scipy import sparse

    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def _gaps(rows: Any) -> list[int]:
    """How many cells of each row are missing."""
    import numpy as np

    if isinstance(rows, np.ndarray) and rows.dtype.kind == "f":
        return [int(count) for count in np.isnan(rows).sum(axis=1)]
    return [0] * rows.shape[0]


def _labels(given: Any, gaps: list[int]) -> list[str]:
    """What rows are called: their number, their class, how many cells of theirs are guessed."""
    count = len(gaps)
    dropped, classes = set(given.ledger.dropped.tolist()), given.classes
    numbers = [n for n in range(1, count + len(dropped) + 1) if n - 1 not in dropped]
    return [
        f"row {number}"
        + ("" if classes is None else f": {classes[i]}")
        + (f" ({gaps[i]} missing, filled)" if gaps[i] else "")
        for i, number in enumerate(numbers[:count])
    ]
