"""What a page needs to run networks: their weights as text, the rows, and what to call things."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from lrnn.arrays import Floats, Rates, to_numpy
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.live.drawing import frame_of
from lrnn.network.weights import Weights
from lrnn.plots.images import as_images
from lrnn.report.pictures import is_ink
from lrnn.rows.validation import check_count, check_data
from lrnn.tables.messages import SettingError
from lrnn.tables.scaling import OPEN, Scaling, input_names

SMALL = 1 << 16  # weights of a network that are packed with all of their bits
MOST_ENTRIES = 1 << 20  # of a neuron, or clocks: their tables are read in 53 bits
DIM = 0.5  # of images whose pixels are all darker
LEAST_RATE = 1.0  # as that of `to_network`


@dataclass(frozen=True)
class Scene:
    """Models that a page runs side by side, and what it runs them on.

    Attributes
    ----------
    models : dict of str to LRNNAutoencoder or LRNNClassifier
        Fitted models for the same attributes, by name.
    rows : ndarray of shape (n_rows, n_attributes)
        Rows in [0, 1] that the page shows, as many as shall be in it.
    name : str
        What the data are called.
    image_shape : tuple of int, optional
        If rows are images.
    attributes : sequence of str, optional
        Names of the attributes.
    scaling : Scaling, optional
        By which rows got into [0, 1]: attributes are shown in their own units.
    row_names : sequence of str
        What the rows are called.
    frame : dict, optional
        How what is drawn by hand is laid out, as `lrnn.live.drawing.frame_of` tells it; by default
        as in these rows.
    seed : int, default=0
        Of the first run.
    """

    models: Mapping[str, Any]
    rows: Floats
    name: str = ""
    image_shape: tuple[int, ...] | None = None
    attributes: Sequence[str] | None = None
    scaling: Scaling | None = None
    row_names: Sequence[str] = ()
    frame: dict[str, Any] | None = field(default=None)
    seed: int = 0

    def packed(self) -> dict[str, Any]:
        """All of it as a document of JSON."""
        width = check_alike(self.models)
        rows = np.asarray(self.rows, dtype=np.float64).reshape(-1, width)
        names = self.attributes or [f"attribute {i + 1}" for i in range(width)]
        if self.scaling is not None and self.scaling.kind == OPEN:
            raise ValueError(
                "the network of an outlier detector has an open scale, which a live page does not "
                "know; train an LRNNAutoencoder on the same data for one"
            )
        low, high = (np.broadcast_to(v, width) for v in (self.scaling or Scaling("none")).range)
        shape = None if self.image_shape is None else _pixels(self.image_shape, width)
        return {
            "name": self.name,
            "seed": self.seed,
            "shape": shape,
            "ink": is_ink(_gain(rows) * rows) if len(rows) else True,
            "gain": _gain(rows) if shape else 1.0,
            "frame": self.frame or (shape and frame_of(rows, self.image_shape or ())),
            "attributes": [
                {"name": str(name), "low": float(a), "high": float(b)}
                for name, a, b in zip(names, low, high, strict=True)
            ],
            "rows": packed(rows.ravel(), "f4"),
            "row_names": list(map(str, self.row_names))
            or [f"row {i + 1}" for i in range(len(rows))],
            "models": [_model(name, model, names) for name, model in self.models.items()],
        }


def check_alike(models: Mapping[str, Any]) -> int:
    """The number of attributes; complains of models to which one input is not the same."""
    (first, model), *others = models.items()
    for name, other in others:
        if other.n_features_in_ != model.n_features_in_:
            raise ValueError(
                f"{name!r} is a model for {other.n_features_in_} attributes, {first!r} for "
                f"{model.n_features_in_}: side by side they need the same ones"
            )
        ours, theirs = _attributes(model), _attributes(other)
        if ours and theirs and ours != theirs:
            i = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
            raise ValueError(
                f"{name!r} takes other columns than {first!r}: its attribute {i + 1} is "
                f"{theirs[i]!r}, not {ours[i]!r}; fit both to the same columns, in the same order"
            )
        scalings = [each.scaling_ or Scaling("none") for each in (model, other)]
        if any(np.any(getattr(scalings[0], n) != getattr(scalings[1], n)) for n in ("low", "span")):
            raise SettingError(
                "{name} scales its data otherwise than {first}: an input is not the same to both",
                remedy="fit both to the same data with the same {scale}",
                name=repr(name),
                first=repr(first),
            )
    return int(model.n_features_in_)


def _attributes(model: Any) -> list[str]:
    """What a model's attributes are called; empty if nobody knows."""
    known = getattr(model, "feature_names_in_", None)
    names = (model.scaling_ and model.scaling_.names) if known is None else known
    return [] if names is None else list(map(str, names))


def _gain(rows: Floats) -> float:
    """How many times as bright dim images are shown, the brightest pixel of all being white."""
    peak = float(rows.max(initial=0.0))
    return 1 / peak if 0 < peak < DIM else 1.0


def rows_of(model: Any, X: Any, count: int) -> Floats:
    """The first rows of data as a model sees them, in [0, 1]; none of ``X`` None.

    Examples
    --------
    >>> from lrnn import LRNNAutoencoder
    >>> raw = [[2.0, 40.0], [5.0, 80.0], [4.0, 60.0]]
    >>> model = LRNNAutoencoder(1, scale="minmax", random_state=0).fit(raw)
    >>> rows_of(model, raw, 2)
    array([[0., 0.],
           [1., 1.]])
    """
    width = model.n_features_in_
    check_count(count, "rows", 0)
    if X is None or not count:
        return np.empty((0, width))
    rows = check_data(model, X, reset=False)
    blocks = rows.blocks(0, min(count, rows.shape[0]))
    dense = [b.toarray() if sparse.issparse(b) else to_numpy(b) for b in blocks]
    return np.concatenate(dense)[:, :width].astype(np.float64)  # complements come after them


def _pixels(shape: Sequence[int], width: int) -> dict[str, Any]:
    """Height, width and colours of images, and whether their colours come one after the other."""
    first = as_images(np.arange(width, dtype=np.float64)[None, :], shape)[0]
    height, across, *colours = first.shape
    planes = bool(colours) and bool(first[0, 0, 1] != 1)
    return {"height": height, "width": across, "colours": 3 if colours else 1, "planes": planes}


def _model(name: str, model: Any, attributes: Sequence[str]) -> dict[str, Any]:
    """One network: the numbers that `to_network` realises, from weights as the page has them."""
    rates: Rates = getattr(model, "rates", "free")
    weights = as_packed(model.weights_.realised(rates))
    _check_size(weights)
    network = weights.to_network(rates, LEAST_RATE)
    classes = [str(c) for c in model.classes_] if isinstance(model, LRNNClassifier) else None
    minus = weights.inhibitory
    return {
        "name": name,
        "sizes": list(weights.sizes),
        "code": len(weights.encoders),
        "classes": classes,
        "complemented": bool(model.scaling_ is not None and model.scaling_.complemented),
        "inputs": input_names(attributes, model.scaling_),
        "spikes": float(model.spike_cost_),
        "rates": packed(network.rates, "f8"),
        "leaves": packed(network.departures, "f8"),
        "plus": [packed(w) for w in weights.excitatory],
        "minus": None if minus is None else [packed(w) for w in minus],
    }


def _check_size(weights: Weights) -> None:
    widest = 2 * max(weights.sizes) + 1
    if max(widest, sum(weights.sizes)) >= MOST_ENTRIES:
        raise ValueError(
            f"a page cannot run {sum(weights.sizes):,} neurons, at most {MOST_ENTRIES:,}; "
            "lrnn simulate can"
        )


def as_packed(weights: Weights) -> Weights:
    """The same weights with as many bits as a page has of them, none of them larger.

    Those of a small network keep all, and its events are those of the model, one by one.
    """
    count = sum(w.size for w in (*weights.excitatory, *(weights.inhibitory or ())))
    return weights if count <= SMALL else weights.each(_rounded_down)


def _rounded_down(weight: Any) -> Floats:
    exact = to_numpy(weight).astype(np.float64)
    if _type_of(exact) == "f8":
        return exact
    short = exact.astype(np.float32)
    short = np.where(short > exact, np.nextafter(short, np.float32(0)), short)
    return short.astype(np.float64)


def _type_of(values: Floats) -> str:
    """float32, unless some number is too large or too small for it."""
    limits = np.finfo(np.float32)
    used = values[values > 0]
    fits = not len(used) or (used.max() <= limits.max and used.min() >= limits.smallest_normal)
    return "f4" if fits else "f8"


def _exact_type_of(values: Floats) -> str:
    """float32 if that has all of their bits."""
    fits = _type_of(values) == "f4" and bool((values.astype(np.float32) == values).all())
    return "f4" if fits else "f8"


def packed(array: Any, kind: str | None = None) -> dict[str, str]:
    """An array as text, 4 bytes a number if these have all of its bits."""
    values = np.ascontiguousarray(array, dtype=np.float64).ravel()
    kind = kind or _exact_type_of(values)
    return {"type": kind, "data": base64.b64encode(values.astype(f"<{kind}").tobytes()).decode()}
