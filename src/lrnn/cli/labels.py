"""The class of each row, as files and data sets tell it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from lrnn.cli.tables import check_sparse, columns_beside

WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
FEW = 20  # different numbers that are not whole, and yet classes
FEWEST = 10  # classes, above which there must be two rows of each, on average
SHOWN = 3  # rows that are named


def without_class(cells: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have no label."""
    from lrnn.tables.frame import is_missing

    found = np.asarray(cells, dtype=object if isinstance(cells, tuple | list) else None)
    return is_missing(found)


def as_labels(cells: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Labels as a classifier learns them: whole numbers, if all are such, or else text.

    >>> as_labels(["3", "10.0"]), as_labels(np.array([3.0, 10.0])), as_labels(["03", "7"])
    (array([ 3, 10]), array([ 3, 10]), array(['03', '7'], dtype='<U2'))
    """
    from lrnn.tables.frame import label_text

    texts = list(map(label_text, cells))
    if all(map(WHOLE.fullmatch, texts)):
        return np.array(texts, dtype=np.int64)
    return np.array(texts)


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Complain of labels, told of in ``where``, that are no classes; or beware of them."""
    from lrnn.tables.words import warn

    values = np.unique(labels)
    count, example = len(values), str(labels[0])
    if count == 1:
        raise ValueError(
            f"{where}: all {len(labels):,} rows are of the class {example!r}, and there is nothing "
            "to tell apart; name another column with --label, or give rows of several classes"
        )
    if count > FEW and _are_fractions(values):
        raise ValueError(
            f"{where} holds {count:,} different numbers, such as {example}: a quantity, and no "
            "classes; name another column with --label, or put its values into few classes before"
        )
    if count > max(FEWEST, len(labels) / 2):
        raise ValueError(
            f"{where} holds {count:,} different labels for {len(labels):,} rows, such as "
            f"{example!r}: too many to learn of each; name a column of classes with --label"
        )
    if count > FEW and values.dtype.kind == "i":
        warn(
            f"{where} holds {count:,} different whole numbers from {values[0]} to {values[-1]}; "
            "each is taken for a class of its own"
        )


def _are_fractions(values: NDArray[Any]) -> bool:
    """Whether texts are numbers, and not all of them whole."""
    if values.dtype.kind in "iu":
        return False
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return False
    return not all(number.is_integer() for number in numbers)


def with_label(model: Any, source: str, label: str, index: str | None = None) -> Any:
    """The scaling of a model, for a table with a column of classes that it may not have learnt."""
    from lrnn.datasets import open_table
    from lrnn.tables.frame import Columns
    from lrnn.tables.read import Reading, taken
    from lrnn.tables.recipe import MatrixColumns, Recipe
    from lrnn.tables.scaling import Scaling

    scaling, path = model.scaling_ or Scaling("none"), Path(source)
    table = open_table(source, True, taken(path, scaling.reading) if path.exists() else Reading())
    check_sparse(table.data, source, "--label")
    matrix = not isinstance(table.data, Columns)
    if table.labels is not None or (matrix and table.names is None and not label.isdigit()):
        raise typer.BadParameter(
            f"{source!r} is no table with columns of its own; labels of data sets and of folders "
            "of images are known without it",
            param_hint="--label",
        )
    beside = [
        f"column {found + 1}" if isinstance(found, int) else found
        for found in columns_beside(table, source, label, index)
    ]
    own: dict[str, Any] = dict(zip(("label", "index"), beside, strict=True))
    if scaling.recipe is not None:
        return replace(scaling, recipe=replace(scaling.recipe, **own))
    names, known = table.names, getattr(model, "feature_names_in_", ())
    columns = MatrixColumns(table.data, names) if matrix else table.data
    order = {str(name): i for i, name in enumerate(known)} if columns.named else {}
    recipe, _ = Recipe.fit(columns, columns=list(order) or None, **own)
    taken_in_order = sorted(recipe.columns, key=lambda column: order.get(column.name, 0))
    return replace(scaling, recipe=replace(recipe, columns=tuple(taken_in_order)))


def tell_unlabelled(lacking: NDArray[np.bool_], dropped: NDArray[np.intp], source: str) -> None:
    """Warn of rows without a label; ``dropped`` are those of the file that are not among them."""
    from lrnn.tables.words import warn

    count, total = int(np.count_nonzero(lacking)), len(lacking)
    if count:
        one = count == 1
        warn(
            f"{source!r}: {count:,} of {total:,} rows {'has' if one else 'have'} no label, and "
            f"{'is' if one else 'are'} left out: {rows_told(_in_file(lacking, dropped))}"
        )


def tell_strange(
    numbers: NDArray[np.intp],
    texts: Sequence[str],
    names: Sequence[str],
    dropped: NDArray[np.intp],
    source: str,
    remedy: str = "",
) -> None:
    """Warn of rows whose label is no class of a model; complain, if all are such.

    ``numbers`` are those of the classes of all rows, ``texts`` their labels, and ``names`` the
    model's classes.
    """
    from lrnn.tables.frame import UNKNOWN, UNLABELLED
    from lrnn.tables.words import warn

    strange, labelled = numbers == UNKNOWN, numbers != UNLABELLED
    if not strange.any():
        return
    example = texts[int(strange.argmax())]
    if (strange == labelled).all():
        more = " …" if len(names) > 5 else ""
        raise ValueError(
            f"none of the labels of {source!r}, such as {example!r}, is a class of the model, "
            f"which are {', '.join(map(repr, names[:5]))}{more}{remedy}"
        )
    count = int(np.count_nonzero(strange))
    one = count == 1
    warn(
        f"{count:,} of {np.count_nonzero(labelled):,} rows {'has' if one else 'have'} a label that "
        f"is no class of the model, such as {example!r} in row "
        f"{_in_file(strange, dropped)[0] + 1:,}: {'it counts' if one else 'they count'} as wrong"
    )


def _in_file(chosen: NDArray[np.bool_], dropped: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers, from 0, of chosen rows in their file, some rows of which were dropped."""
    numbers = np.delete(np.arange(len(chosen) + len(dropped)), dropped)
    return np.asarray(numbers[chosen])


def rows_told(numbers: NDArray[np.intp]) -> str:
    """The first of some rows, whose numbers are counted from 0."""
    more = ", …" if len(numbers) > SHOWN else ""
    return ", ".join(f"{number + 1:,}" for number in numbers[:SHOWN]) + more
