"""Codes and reconstructions of data that do not fit in memory, written as they are computed."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Array, host_dtype, to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.rows import Rows, held
from lrnn.rows.dask import in_order
from lrnn.rows.validation import check_data
from lrnn.tables.atomic import check_apart
from lrnn.tables.scaling import Scaling
from lrnn.tables.writers import WITH_TEXT, check_output, write_blocks
from lrnn.training.parameters import check_refine

__all__ = ["Beside", "encode", "reconstruct"]

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Beside:
    """Columns beside the results: names of those before and after them, and what gives the next.

    Parameters
    ----------
    before, after : tuple of str
        Names of the columns on both sides of the results.
    take : callable
        ``take(count)`` gives the columns for so many further rows, by their names.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    take: Callable[[int], dict[str, NDArray[Any]]]

    def arranged(self, values: Any) -> list[Any]:
        """Results between the columns that go along.

        Parameters
        ----------
        values : ndarray or sequence of ndarray
            A block of results, or its columns.

        Returns
        -------
        columns : list of ndarray
            All of them, in order.
        """
        columns = list(values.T) if isinstance(values, np.ndarray) else list(values)
        beside = self.take(len(columns[0]))
        return [
            *(beside[name] for name in self.before),
            *columns,
            *(beside[name] for name in self.after),
        ]


def encode(
    model: LRNNAutoencoder | LRNNClassifier,
    X: Any,
    path: str | os.PathLike[str],
    *,
    refine: int = 0,
    progress: Progress | None = None,
    beside: Beside | None = None,
) -> tuple[int, int]:
    """Write the codes of X to a file, block by block.

    Parameters
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        A fitted model; the codes of a classifier are the activations of its last hidden layer.
    X : anything that `LRNNAutoencoder.transform` takes
        The data; at no time is more than a few blocks of them in memory.
    path : str or path-like
        A .npy, .npz, .csv, .tsv, .mat, .parquet or .zarr file. It appears when all is written, or
        not at all. What goes to .npz and .mat files is held in memory until then.
    refine : int, default=0
        Sweeps that improve the codes, as in `LRNNAutoencoder.transform`.
    progress : callable, optional
        Is told after each block how many rows are done.
    beside : Beside, optional
        Columns that are written beside the codes.

    Returns
    -------
    shape : (int, int)
        Of what was written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> X = np.random.default_rng(0).random((50, 4))
    >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(model, X, f"{folder}/codes.npy")
    ...     bool((np.load(f"{folder}/codes.npy") == model.transform(X)).all())
    (50, 2)
    True
    """
    width = model._n_features_out
    names = [f"code{i}" for i in range(width)]
    arranged = None
    if beside is not None:
        names, arranged = [*beside.before, *names, *beside.after], beside.arranged
    if isinstance(model, LRNNAutoencoder):
        check_refine(refine, model.weights_.inhibitory is not None)
        work: Callable[[Rows], Array] = partial(model._coded, refine=refine)
    elif refine:
        raise ValueError(
            f"refine={refine!r} is for an autoencoder; a classifier gives no rows back"
        )
    else:
        work = model._coded
    return _write(model, X, path, work, width, names, progress, arranged)


def reconstruct(
    model: LRNNAutoencoder,
    X: Any,
    path: str | os.PathLike[str],
    *,
    scaled: bool = False,
    scaling: Scaling | None = None,
    progress: Progress | None = None,
    beside: Beside | None = None,
) -> tuple[int, int]:
    """Write what the network makes of X, block by block; see `encode`.

    It is in the units of the data, if the model has a scaling (or another ``scaling`` is given),
    unless they shall stay ``scaled``. In .csv, .tsv and .parquet files columns of text, each of
    whose values is an attribute, are text again.

    Parameters
    ----------
    model : LRNNAutoencoder
        A fitted one.
    X : as for :meth:`lrnn.LRNNAutoencoder.fit`
        The data.
    path : str or path-like
        The file to write, as for `encode`.
    scaled : bool, default=False
        Whether numbers stay in [0, 1].
    scaling : Scaling, optional
        Another scaling than the model's own.
    progress : callable, optional
        Is told after each block how many rows are done.
    beside : Beside, optional
        Columns that are written beside them.

    Returns
    -------
    shape : (int, int)
        Of what was written.
    """
    known = getattr(model, "feature_names_in_", None)
    names = None if known is None else list(known)
    how = None if scaled else scaling or model.scaling_

    def arranged(values: NDArray[Any]) -> Any:
        frame = how.to_frame(values) if how is not None and as_table else None
        if frame is None:
            block = values if how is None else how.revert(values)
            columns = list(block.T) if beside is not None else block
        else:
            columns = list(frame.columns)
        return columns if beside is None else beside.arranged(columns)

    as_table = os.path.splitext(os.fspath(path))[1].lower() in WITH_TEXT
    if how is not None and how.recipe is not None and as_table:
        names = [column.name for column in how.recipe.columns]
    if beside is not None:
        inner = names or [f"column{i}" for i in range(model.n_features_in_)]
        names = [*beside.before, *inner, *beside.after]
    return _write(
        model, X, path, model._given_back, model.n_features_in_, names, progress, arranged
    )


def _write(
    model: LRNNAutoencoder | LRNNClassifier,
    X: Any,
    path: str | os.PathLike[str],
    work: Callable[[Rows], Array],
    width: int,
    names: Sequence[str] | None,
    progress: Progress | None,
    arranged: Callable[[NDArray[Any]], Any] | None,
) -> tuple[int, int]:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is told how many rows are done; it cannot be {progress!r}")
    check_output(path)
    check_apart(path, X, getattr(X, "filename", None))
    rows = check_data(model, X, reset=False)

    def results() -> Iterator[Any]:
        done = 0
        on_workers = in_order(work(rows)) if rows.on_workers else None
        for block in on_workers or rows.blocks():
            found = np.asarray(block) if on_workers else to_numpy(work(held(block)))
            yield found if arranged is None else arranged(found)
            done += found.shape[0]
            if progress is not None:
                progress(done)

    shape = (int(rows.shape[0]), width if names is None else len(names))
    write_blocks(path, results(), shape, host_dtype(model.weights_.dtype), names)
    return int(rows.shape[0]), width
