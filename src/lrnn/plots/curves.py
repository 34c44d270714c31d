"""How errors fall: in training, and as a simulation goes on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

import numpy as np
from matplotlib.axes import Axes
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lrnn.arrays import Floats
from lrnn.plots.axes import axes_or_new, key, levels, literal, logarithmic, plain, style

if TYPE_CHECKING:
    from lrnn.estimators.autoencoder import LRNNAutoencoder
    from lrnn.spiking import Simulation
    from lrnn.spiking.estimators import Estimator
    from lrnn.training import LearningCurve

Run: TypeAlias = Union["LRNNAutoencoder", "LearningCurve", Sequence["LearningCurve"]]
Curves: TypeAlias = Run | Mapping[str, Run] | Iterable[tuple[str, Run]]
Against: TypeAlias = Literal["iterations", "seconds"]


def learning_curves(
    curves: Curves,
    *,
    against: Against = "iterations",
    bounds: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error on all rows (thick) and on each minibatch (thin), in the course of training.

    The stages of a model follow one another, and a dot marks where a later one begins. Those of
    single layer pairs are pale where models are compared: a pair's error is that on the layer
    before it, not that of the network.

    Parameters
    ----------
    curves : fitted model, or mapping from names to models
        Of a single model each kind of stage has a colour; of several, each model has one. There
        may be a `LearningCurve` or a list of them in the place of a model, and pairs of names and
        models in the place of a mapping.
    against : {"iterations", "seconds"}, default="iterations"
        What the error is drawn against: iterations, each a minibatch or a full-batch step; or
        seconds of training, without evaluations.
    bounds : mapping from str to float, optional
        Errors to compare with, such as ``{"best linear map": lrnn.bounds.svd(X, 16)}``, as dotted
        lines. (0 has no place on a logarithmic axis.)
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import LRNNAutoencoder, plots
    >>> model = LRNNAutoencoder(4, max_iter=5, random_state=0).fit(load_digits().data / 16)
    >>> ax = plots.learning_curves(model)
    """
    if against not in ("iterations", "seconds"):
        raise ValueError(f"against must be 'iterations' or 'seconds', got {against!r}")
    runs = _runs(curves)
    ax = axes_or_new(ax, 4, 2.8)
    labels: list[str] = []
    for name, stages in runs:
        for i, stage in enumerate(_in_succession(stages, against)):
            label = _kind(stage[0]) if name is None else name
            new = label not in labels
            labels += [label] if new else []
            line = style(labels.index(label))
            pale = name is not None and stage[0].layer is not None
            _draw_stage(ax, *stage, line, pale, dot=i > 0, label=label if new else None)
    positive = any((curve.errors > 0).any() for _, stages in runs for curve in stages)
    shown = {label: v for label, v in (bounds or {}).items() if v > 0 or not positive}
    levels(ax, shown, log=positive)
    key(ax)
    passed = "iterations" if against == "iterations" else "seconds of training"
    recognises = all(curve.stage == "recognition" for _, stages in runs for curve in stages)
    return plain(ax, passed, "cross-entropy" if recognises else "mean squared error")


def convergence(
    result: "Simulation",
    *,
    estimators: "Sequence[Estimator] | None" = None,
    layer: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Error to the numeric solution against events, and the line of 1/√events.

    Parameters
    ----------
    result : Simulation
        With more than one snapshot.
    estimators : sequence of {"potential", "events", "busy", "arrivals"}, default=all
        Whose errors to draw.
    layer : str, optional
        One of ``result.layer_names``, by default the last.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    ax : Axes
        Where it was drawn.

    Examples
    --------
    >>> from lrnn import RandomNeuralNetwork, plots
    >>> network = RandomNeuralNetwork([1.0], [[0.0]])
    >>> ax = plots.convergence(network.simulate([0.5], events=100_000, random_state=0))
    """
    from lrnn.spiking.estimators import ESTIMATORS

    estimators = ESTIMATORS if estimators is None else estimators
    names = result.layer_names
    if layer is not None and layer not in names:
        raise ValueError(f"layer must be one of {', '.join(names)}; got {layer!r}")
    which = names.index(layer) if layer is not None else len(names) - 1
    drawn = {}
    for estimator in estimators:
        found = result.compare(estimator=estimator)
        if len(found.events):
            drawn[estimator] = found.events, found.errors[:, which]
    if not drawn:
        raise ValueError(
            f"there is nothing to draw of {', '.join(estimators) or 'no estimators'}: simulate "
            "longer, or lower observe_every"
        )
    ax = axes_or_new(ax, 3.6, 2.8)
    for i, (estimator, (events, errors)) in enumerate(drawn.items()):
        colour, _ = style(i)
        ax.plot(events, errors, color=colour, linewidth=1.5, label=estimator)
    _draw_inverse_root(ax, list(drawn.values()))
    key(ax)
    return plain(ax, "events", "RMSE" if names == ("all",) else f"RMSE, {names[which]} layer")


def _draw_inverse_root(ax: Axes, lines: Sequence[tuple[Floats, Floats]]) -> None:
    """The slope that errors should have, through their middle; and logarithmic axes."""
    events, errors = (np.concatenate(values) for values in zip(*lines, strict=True))
    seen = errors > 0
    if not seen.any():
        return
    level = np.exp(np.log(errors[seen] * np.sqrt(events[seen])).mean())
    ends = np.array([events.min(), events.max()])
    ax.plot(ends, level / np.sqrt(ends), "k:", linewidth=1, label="1/√events")
    logarithmic(ax, "x")
    logarithmic(ax, "y")


def _draw_stage(
    ax: Axes,
    curve: "LearningCurve",
    x: Floats,
    between: Floats,
    line: tuple[str, str],
    pale: bool,
    dot: bool,
    label: str | None,
) -> None:
    colour, dashes = line
    if not _full_batch(curve):
        ax.plot(between, curve.batch_errors, color=colour, linewidth=0.4, alpha=0.5)
    ax.plot(
        x, curve.errors, color=colour, linestyle=dashes, linewidth=1.5, alpha=0.4 if pale else 1,
        marker="o" if dot or len(x) == 1 else None, markersize=3, markevery=[0], label=label,
    )  # fmt: skip


def _runs(curves: Any) -> "list[tuple[str | None, list[LearningCurve]]]":
    """Names (None for a single model) and their stages."""
    from lrnn.training import LearningCurve

    if isinstance(curves, Mapping):
        curves = list(curves.items())
    elif isinstance(curves, LearningCurve | BaseEstimator):
        return [(None, _stages(curves))]
    else:
        curves = list(curves)
    if not curves:
        raise ValueError("there are no learning curves to draw; give a fitted model")
    if all(isinstance(curve, LearningCurve) for curve in curves):
        return [(None, curves)]
    return [(literal(str(name)), _stages(run)) for name, run in curves]


def _stages(run: Any) -> "list[LearningCurve]":
    from lrnn.training import LearningCurve

    if isinstance(run, LearningCurve):
        return [run]
    if isinstance(run, BaseEstimator):
        check_is_fitted(run)
        if not hasattr(run, "history_"):
            raise TypeError(
                f"{type(run).__name__} has no history_; give a fitted LRNNAutoencoder (of a "
                "pipeline, that step)"
            )
        return list(run.history_)
    return list(run)


def _in_succession(
    stages: "Iterable[LearningCurve]", against: Against
) -> "Iterator[tuple[LearningCurve, Floats, Floats]]":
    """Each stage, and where its errors and those on its minibatches are on the axis."""
    begin = 0.0
    for curve in stages:
        x: Floats = np.asarray(curve.iterations, dtype=np.float64)
        between: Floats = np.arange(1.0, len(curve.batch_errors) + 1)
        if against == "seconds":
            between = np.interp(between, [0, *x], [0, *curve.seconds])
            x = curve.seconds
        yield curve, begin + x, begin + between
        begin += max(x[-1], between[-1] if len(between) else 0)


def _full_batch(curve: "LearningCurve") -> bool:
    """Whether each iteration used all rows, so that there are no errors on minibatches."""
    errors = curve.batch_errors
    return not len(errors) or np.array_equal(errors, curve.errors[1:])


def _kind(curve: "LearningCurve") -> str:
    if curve.stage:
        return curve.name.removesuffix(", all layers")
    if curve.layer is not None:
        return f"layer pair {curve.layer}"
    return "full batch" if _full_batch(curve) else "minibatches"
