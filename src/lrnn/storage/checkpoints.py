"""Training that survives being killed: its state in a file, every so often.

Training is a sequence of loops, always the same for the same data and parameters. A checkpoint
holds the final state of each loop that has ended and a state of the one that has not. A run that
resumes goes through all of them again: those that have ended end at once, and the last goes on.
What comes out is what an undisturbed run would have given, bit for bit.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from numbers import Integral
from pathlib import Path
from time import monotonic
from typing import Any, Self, TypeVar

from numpy.typing import NDArray
from sklearn.utils import check_random_state

import lrnn
from lrnn.arrays import to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.rows import Rows
from lrnn.rows.validation import check_data, weighted
from lrnn.storage.codec import (
    READ_ERRORS,
    TensorFileError,
    checksum,
    join,
    read_tensors,
    split,
    write_tensors,
)
from lrnn.storage.model_files import plain_parameters, start_of
from lrnn.tables.messages import warn
from lrnn.training import Labels, Observer, State, StateError
from lrnn.training.parameters import check_without_rows

__all__ = ["CheckpointError", "fit"]

FORMAT = 3
COPY_PAUSE = 1.0  # seconds, at least, between copies of the state
COPY_SHARE = 20  # and so many times what a copy takes
SEEDS = 1 << 31  # of which one is drawn


class CheckpointError(TensorFileError):
    """A file is no checkpoint from which this training could go on."""


Model = TypeVar("Model", LRNNAutoencoder, LRNNClassifier)


def fit(
    model: Model,
    X: Any,
    path: str | os.PathLike[str],
    *,
    y: Any = None,
    sample_weight: Any = None,
    every: float = 60.0,
    resume: bool = True,
) -> Model:
    """Train ``model`` on X with checkpoints.

    Parameters
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        What to train.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data, as for its method ``fit``.
    path : str or path-like
        The checkpoint's file. It is left there at the end: remove it when the model is safe.
    y : array-like of shape (n_samples,), optional
        Labels, which a classifier needs; an autoencoder takes none.
    sample_weight : array-like of shape (n_samples,), optional
        What each row weighs, as for ``fit``.
    every : float, default=60.0
        Seconds between checkpoints, which are made after full passes or steps.
    resume : bool, default=True
        Go on from the file if there is one. It must be of the same data (labels and weights are
        among them) and parameters, and of the same encoder, if a classifier begins with one. With
        ``early_stopping``, a ``random_state`` that is no number is drawn once, and kept in the
        file: the same rows stay held out.

    Returns
    -------
    model : LRNNAutoencoder or LRNNClassifier
        The model itself, trained.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> X = np.random.default_rng(0).random((50, 4))
    >>> model = LRNNAutoencoder((2,), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model = fit(model, X, f"{folder}/checkpoint")
    >>> model.transform(X).shape
    (50, 2)
    >>> classifier = LRNNClassifier((3,), max_iter=5, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     classifier = fit(classifier, X, f"{folder}/checkpoint", y=X[:, 0] > 0.5)
    >>> classifier.predict(X).shape
    (50,)
    """
    model._validate_params()
    place, given = Path(path), model.random_state
    model.random_state = seed_for(model, place, resume)
    try:
        return _trained(model, X, y, sample_weight, place, every, resume)
    finally:
        model.random_state = given


def _trained(
    model: Model, X: Any, y: Any, sample_weight: Any, place: Path, every: float, resume: bool
) -> Model:
    if isinstance(model, LRNNClassifier):

        def watch(
            rows: Rows, labels: Labels, classes: NDArray[Any]
        ) -> AbstractContextManager[Observer]:
            facts = {"labels": _sum_of_labels(labels, classes), "pretrain": _sum_of_encoder(model)}
            return _keeping(model, checkpoint_of(model, rows, place, every, resume, **facts))

        model._fit(X, y, sample_weight, watch)
        return model
    if y is not None:
        raise ValueError("y is for a classifier; an autoencoder learns without labels")
    if sample_weight is not None:
        check_without_rows(model, "sample_weight")
    rows = check_data(model, X, reset=True, sample_weight=sample_weight)
    heavy = weighted(rows, sample_weight, scale=model.scale)
    with _keeping(model, checkpoint_of(model, heavy, place, every, resume)) as watcher:
        model._fit(rows, watcher, sample_weight=sample_weight)
    return model


def seed_for(model: LRNNAutoencoder | LRNNClassifier, path: Path, resume: bool) -> Any:
    """A number as ``random_state``, where without one other rows would be held out the next time.

    It is drawn, and found again in the checkpoint at ``path``.
    """
    given = model.random_state
    if isinstance(given, Integral) or not model.early_stopping:
        return given
    if resume and path.exists() and (known := _seed_in(path)) is not None:
        return known
    return int(check_random_state(given).randint(SEEDS))


def _seed_in(path: Path) -> int | None:
    """The ``random_state`` of a checkpoint, if it is a number; `read` complains of its faults."""
    try:
        found = read_tensors(path, lambda document: None)[0]["facts"]["random_state"]
    except READ_ERRORS:
        return None
    return found if type(found) is int else None


@contextmanager
def _keeping(
    model: LRNNAutoencoder | LRNNClassifier, watcher: "Checkpoint"
) -> "Iterator[Checkpoint]":
    """See that nothing is lost of a training, in which the model is fitted."""
    with watcher:
        yield watcher
    if model.history_[-1].stopped == "interrupted":
        watcher.save()


def checkpoint_of(
    model: LRNNAutoencoder | LRNNClassifier,
    rows: Rows,
    path: Path,
    every: float,
    resume: bool,
    **more: Any,
) -> "Checkpoint":
    """What writes checkpoints of ``model`` on ``rows``, and knows those of an earlier run.

    ``more`` are other facts of the training that must be the same.
    """
    parameters = plain_parameters(model)
    del parameters["verbose"]
    if start := start_of(model):
        parameters["init"] = checksum("", split(start)[1])
    facts = {"lrnn": lrnn.__version__, "model": type(model).__name__, **parameters, **more}
    earlier = read(path, facts) if resume and path.exists() else None
    return Checkpoint(path, every, facts, rows, earlier)


def _sum_of_labels(labels: Labels, classes: NDArray[Any]) -> str:
    """A sum over the label of each row, and what it weighs."""
    parts = {"numbers": to_numpy(labels.numbers), "weights": to_numpy(labels.weights)}
    return checksum(repr(classes.tolist()), parts)


def _sum_of_encoder(model: LRNNClassifier) -> str | None:
    """A sum over the layers that ``pretrain`` gives, if it does."""
    found = model._pretrained
    if found is None:
        return None
    parts = {"encoder": found.encoders_, "inhibitory_encoder": found.inhibitory_encoders_ or ()}
    return checksum("", split(parts)[1])


@dataclass(frozen=True)
class Content:
    """What the data hold, as a sum (see `Rows.identity`); of the first ``rows`` alone, if told."""

    sum: str
    rows: int | None = None


@dataclass(frozen=True)
class Earlier:
    """What a checkpoint holds: states of loops, and which data they are of."""

    states: list[State]
    content: Content


class Checkpoint(Observer):
    """Writes the states of all loops to a file, and knows those of an earlier run.

    What the data hold is summed up as they are read for training. Where an earlier run is gone on
    from, those rows that it had seen are read once more, unless that has just been done.
    """

    def __init__(
        self,
        path: Path,
        every: float,
        facts: Mapping[str, Any],
        rows: Rows,
        earlier: Earlier | None = None,
    ) -> None:
        self._path, self._every, self._facts, self._rows = path, every, facts, rows
        self._known = [] if earlier is None else list(earlier.states)
        self._expected = None if earlier is None else earlier.content
        self._whole: Content | None = None
        self._so_far: Content | None = None  # while the first pass is not complete
        rows.remember()
        self._ended: list[State] = []
        self._newest: list[State] | None = None  # what is not in the file yet
        self._written, self._copied, self._pause = monotonic(), -inf, 0.0
        self._in_loop = self._over = False  # what follows a loop that was left only ends the work

    def resume(self) -> State | None:
        """What the earlier run left of the next loop."""
        self._over |= self._in_loop
        self._in_loop, self._copied = True, -inf  # its first step is worth a copy
        if not self._known:
            return None
        if self._expected is not None:
            self._check_data(self._expected)
            self._expected = None
        return self._known.pop(0)

    def _check_data(self, expected: Content) -> None:
        """See that the rows an earlier run has seen are those of this one."""
        enough = expected.rows is None or expected.rows <= self._rows.shape[0]
        if not enough or self._rows.identity(expected.rows) != expected.sum:
            raise self.unfit("it is of a training on other data")

    def unfit(self, reason: str) -> CheckpointError:
        """An error that says why the earlier run cannot be gone on from."""
        return CheckpointError(f"cannot go on from {str(self._path)!r}: {reason}")

    def checkpoint(self, state: Callable[[], State], finished: bool = False) -> None:
        """Write, if it is time to; a loop that has ended is kept for all later checkpoints.

        In between, a copy is held now and then for Ctrl-C, which comes in the midst of a step.
        """
        if self._over:
            return
        if finished:
            self._in_loop = False
            self._ended.append(state())
        if self._known:
            return  # there is more in the file
        began = monotonic()
        if began - self._written >= self._every:
            self._keep(self._ended if finished else [*self._ended, state()])
            self.save()
        elif finished:
            self._keep(list(self._ended))
        elif began - self._copied >= self._pause:
            self._keep([*self._ended, deepcopy(state())])
            self._copied = monotonic()
            self._pause = max(COPY_PAUSE, COPY_SHARE * (self._copied - began))

    def _keep(self, states: list[State]) -> None:
        self._newest = states
        read = rows_read(states)
        partly = read is not None and read < self._rows.shape[0]
        self._so_far = Content(self._rows.identity(read), read) if partly else None

    def __enter__(self) -> Self:
        """See that nothing is lost if Ctrl-C ends the training without a result."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        """Save what there is; say which file it was that did not fit this training."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.save()
        if kind is not None and issubclass(kind, StateError):
            raise self.unfit(str(error)) from None
        if kind is None and self._known and not (self._over or self._in_loop):
            raise self.unfit("it holds more than this training has")

    def save(self) -> None:
        """Write the newest states that are not in the file yet."""
        if self._newest is None:
            return
        if self._so_far is None and self._whole is None:
            self._whole = Content(self._rows.identity())
        content = self._so_far or self._whole
        assert content is not None
        try:
            write(self._path, self._facts, content, self._newest)
        except OSError as error:
            warn(
                f"no checkpoint could be written to {str(self._path)!r} "
                f"({error.strerror or error}); training goes on"
            )
        self._newest, self._written = None, monotonic()


def rows_read(states: Sequence[State]) -> int | None:
    """How many rows have been read, if the first pass over them is all that there is so far."""
    return states[0]["rows"] if len(states) == 1 and states[0].keys() == {"total", "rows"} else None


def write(path: Path, facts: Mapping[str, Any], content: Content, states: list[State]) -> None:
    """Write states of loops."""
    data = content.sum if content.rows is None else [content.sum, content.rows]
    state = {"checkpoint": FORMAT, "facts": {**facts, "data": data}, "states": states}
    write_tensors(path, *split(state, ordered=True))


def read(path: Path, facts: Mapping[str, Any]) -> Earlier:
    """What `write` wrote for training with the same ``facts``."""

    def check(document: dict[str, Any]) -> None:
        if document.get("checkpoint") != FORMAT or not isinstance(document.get("facts"), dict):
            raise CheckpointError("it is not a checkpoint of this version of lrnn")
        for what, value in facts.items():
            other = document["facts"].get(what)
            if other != value:
                raise CheckpointError(_difference(what, other, value))

    try:
        found = join(*read_tensors(path, check))
        data = found["facts"]["data"]
        content = Content(*data) if isinstance(data, list) else Content(data)
        return Earlier(found["states"], content)
    except READ_ERRORS as error:
        raise CheckpointError(
            f"cannot go on from {str(path)!r}: {str(error) or type(error).__name__}"
        ) from None


def _difference(what: str, other: Any, value: Any) -> str:
    """How the training of a checkpoint differs from this one."""
    if what == "labels":
        return "it is of a training on other labels"
    if what == "lrnn":
        return (
            f"it is of a training by lrnn {other!s:.60}, and this is lrnn {value}, whose steps may "
            "differ: go on with that version, or train anew"
        )
    return f"it is of a training with {what} {other!r:.60}, and this one has {value!r:.60}"
