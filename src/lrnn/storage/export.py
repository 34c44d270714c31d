"""Models for other programs: PyTorch modules and ONNX files."""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import lrnn
from lrnn.arrays import Array, Floats, Layer, to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.tables.atomic import write_atomically
from lrnn.tables.messages import short, warn
from lrnn.tables.scaling import OPEN, Scaling

if TYPE_CHECKING:
    import torch

__all__ = ["to_onnx", "to_torch"]

OPSET, IR_VERSION = 17, 8  # of 2022: read by all that is in use


def to_torch(
    model: LRNNAutoencoder | LRNNClassifier, *, scaling: bool | None = None
) -> "torch.nn.Sequential":
    """The model as a plain PyTorch module; see the method ``to_torch`` of the model.

    Parameters
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        A fitted one.
    scaling : bool, optional
        Whether it begins with the model's own scaling, as for :func:`to_onnx`.

    Returns
    -------
    module : torch.nn.Sequential
        On the CPU.
    """
    try:
        import torch
        from torch import from_numpy, nn
    except ImportError:
        raise ImportError("to_torch needs PyTorch: pip install 'lrnn[torch]'") from None
    check_is_fitted(model)
    scaling = _scaled_inside(model, scaling)

    def linear(weight: Array) -> "nn.Module":
        inputs, outputs = weight.shape
        module = nn.Linear(inputs, outputs, bias=False, dtype=from_numpy(weight).dtype)
        module.weight.data = from_numpy(weight.T.copy())
        return module

    class Inhibited(nn.Module):
        """Excitation over one plus inhibition."""

        def __init__(self, plus: Array, minus: Array) -> None:
            super().__init__()
            self.excitatory, self.inhibitory = linear(plus), linear(minus)

        def forward(self, rows: Any) -> Any:
            return self.excitatory(rows) / (1 + self.inhibitory(rows))

    class Shares(nn.Module):
        """Each neuron's share of its row's spikes; equal shares where nothing fires."""

        def forward(self, outputs: Any) -> Any:
            total = outputs.sum(dim=1, keepdim=True)
            fires = total > 0
            equal = torch.full_like(outputs, 1 / outputs.shape[1])
            return torch.where(fires, outputs / torch.where(fires, total, 1), equal)

    class Scaled(nn.Module):
        """Raw rows, shifted and divided attribute by attribute."""

        def __init__(self, low: Floats, span: Floats, kind: "torch.dtype") -> None:
            super().__init__()
            self.register_buffer("low", torch.tensor(low, dtype=kind))
            self.register_buffer("span", torch.tensor(span, dtype=kind))

        def forward(self, rows: Any) -> Any:
            return (rows - self.low) / self.span

    class Complements(nn.Module):
        """Each attribute x beside 1 − x."""

        def forward(self, rows: Any) -> Any:
            return torch.cat([rows, 1 - rows], dim=1)

    class Attributes(nn.Module):
        """Attributes of what their neurons, and those of their complements, give back."""

        def forward(self, pairs: Any) -> Any:
            found, complements = pairs.chunk(2, dim=1)
            return (found + (1 - complements)) / 2

    def layers(weights: Iterable[Layer]) -> "list[nn.Module]":
        modules: list[nn.Module] = []
        for weight in weights:
            pair = isinstance(weight, tuple)
            module = Inhibited(*map(to_numpy, weight)) if pair else linear(to_numpy(weight))
            modules += [module, nn.Hardtanh(0.0, 1.0)]
        return modules

    own = model.weights_
    first: list[nn.Module] = [nn.Hardtanh(0.0, 1.0)]
    last: list[nn.Module] = []
    if scaling:
        kind = from_numpy(to_numpy(own.excitatory[0])).dtype
        first = [Scaled(*_shift_and_span(model), kind), *first]
    if model.scaling_ is not None and model.scaling_.complemented:
        first, last = [*first, Complements()], [Attributes()]
    if isinstance(model, LRNNClassifier):
        hidden = nn.Sequential(*first, *layers(own.layers[:-1]))
        output = nn.Sequential(*layers(own.layers[-1:]))
        return nn.Sequential(OrderedDict(hidden=hidden, output=output, shares=Shares()))
    encoder = nn.Sequential(*first, *layers(own.encoding))
    decoder = nn.Sequential(*layers(own.decoding), *last)
    return nn.Sequential(OrderedDict(encoder=encoder, decoder=decoder))


def to_onnx(
    model: LRNNAutoencoder | LRNNClassifier,
    path: str | os.PathLike[str],
    *,
    scaling: bool | None = None,
    dtype: str | None = None,
) -> None:
    """Write the model as an ONNX file of MatMul and Clip nodes (Add and Div with inhibition).

    If it presents attributes beside their complements, so does the file.

    Parameters
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        A fitted model.
    path : str or path-like
        The file. Its input is ``data`` (any number of rows). Outputs of an autoencoder are
        ``codes`` and ``reconstruction``, all in [0, 1], also with ``scaling``
        (``model.scaling_.revert`` gives the units of the data); those of a classifier ``label``,
        ``probabilities`` (shares of the output spikes, in the order of ``classes_``) and ``codes``
        (what ``transform`` gives).
    scaling : bool, optional
        Whether to begin with the scaling that the model remembers, or the division of levels that
        it learnt from by the highest: ``data`` are then raw rows, as the model itself takes them.
        (Columns of text are never taken, nor missing cells filled; a warning tells what takes
        their place.) By default not, with a warning if the model does scale.
    dtype : {"float32", "float64"}, optional
        The type of all numbers; by default that of the weights.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("writing ONNX files needs onnx: pip install 'lrnn[onnx]'") from None
    check_is_fitted(model)
    scaling = _scaled_inside(model, scaling)
    own, sizes = model.weights_, model.weights_.sizes
    graph = _Graph(dtype or to_numpy(own.excitatory[0]).dtype.name)
    how, width = model.scaling_ or Scaling("none"), model.n_features_in_
    layer = graph.input("data", width)
    if scaling:
        low, span = _shift_and_span(model)
        layer = graph.node("Sub", [layer, graph.constant("low", low)], "shifted")
        layer = graph.node("Div", [layer, graph.constant("span", span)], "scaled")
    layer = graph.clip(layer, "input")
    if how.complemented:
        layer = graph.complements(layer)
    if isinstance(model, LRNNClassifier):
        names = {len(sizes) - 2: "codes", len(sizes) - 1: "outputs"}
        graph.recognise(graph.layers(layer, own.layers, names), model.classes_)
        graph.output("codes", sizes[-2])
    else:
        last = "pairs given back" if how.complemented else "reconstruction"
        names = {len(own.encoders): "codes", len(sizes) - 1: last}
        layer = graph.layers(layer, own.layers, names)
        if how.complemented:
            graph.attributes(layer, width, "reconstruction")
        graph.output("codes", sizes[len(own.encoders)])
        graph.output("reconstruction", width)
    made = graph.model(f"lrnn {'classifier' if 'outputs' in names.values() else 'autoencoder'}")
    onnx.helper.set_model_props(
        made,
        {
            "scaling": json.dumps(model.scaling_ and model.scaling_.to_json()),
            "scaled inside": str(scaling),
        },
    )
    onnx.checker.check_model(made)
    write_atomically(Path(path), made.SerializeToString())


def _scaled_inside(model: LRNNAutoencoder | LRNNClassifier, wanted: bool | None) -> bool:
    """Whether the scaling goes along; tells which rows are taken, if not those of the model."""
    how = model.scaling_ or Scaling("none")
    columns = () if how.recipe is None else how.recipe.columns
    made = [c.name for c in columns if c.values is not None or c.truth or c.fill is not None]
    if wanted and how.kind == OPEN:
        raise ValueError(
            "the network of an outlier detector has an open scale, which what is exported does not "
            "know; give scaling=False, and rows that are scaled already, model.scaling_.apply(X)"
        )
    if wanted and made:
        others = f" and of {len(made) - 1:,} other columns" if len(made) > 1 else ""
        warn(
            f"the model makes numbers of the texts or missing cells of {short(made[0])!r}{others}, "
            f"and what is exported does not: it takes rows of {model.n_features_in_} numbers, "
            "model.scaling_.selected(X)"
        )
    if wanted is None and (made or how.kind != "none"):
        warn(
            f"the model takes raw rows (scaling: {how.told}), and what is exported takes rows that "
            "are scaled already, model.scaling_.apply(X); give scaling=True for one that takes raw "
            "rows, or scaling=False if that is meant"
        )
    return bool(wanted)


def _shift_and_span(model: LRNNAutoencoder | LRNNClassifier) -> tuple[Floats, Floats]:
    """What is subtracted from raw attributes, and what the rest is divided by."""
    how = model.scaling_ or Scaling("none")
    span = np.where(np.asarray(how.span) == 0, np.inf, how.span) * (model.white_ or 1.0)
    return np.asarray(how.low, dtype=np.float64), span


class _Graph:
    """An ONNX graph that grows, whose numbers are of one type."""

    def __init__(self, kind: str) -> None:
        from onnx import TensorProto, helper, numpy_helper

        elements = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
        if kind not in elements:
            raise ValueError(f"dtype must be {' or '.join(elements)}; got {kind!r}")
        self._kind, self._element = kind, elements[kind]
        self._helper, self._stored = helper, numpy_helper.from_array
        self._constants: list[Any] = []
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._zero, self._one = self.constant("zero", 0.0), self.constant("one", 1.0)

    def constant(self, name: str, value: Any, kind: Any = None) -> str:
        """Numbers that stay what they are, of the graph's type or another."""
        found = np.array(value, dtype=kind or self._kind, order="C")
        self._constants.append(self._stored(found, name))
        return name

    def node(self, operation: str, inputs: list[str], output: str, **settings: Any) -> str:
        """One operation; what it gives has a name."""
        name = f"{operation} {output}"
        made = self._helper.make_node(operation, inputs, [output], name=name, **settings)
        self._nodes.append(made)
        return output

    def input(self, name: str, width: int) -> str:
        """Rows that are given."""
        self._inputs.append(self._rows(name, width))
        return name

    def output(self, name: str, width: int) -> None:
        """Rows of numbers that are a result."""
        self._outputs.append(self._rows(name, width))

    def _rows(self, name: str, width: int) -> Any:
        return self._helper.make_tensor_value_info(name, self._element, ["rows", width])

    def clip(self, layer: str, name: str) -> str:
        """Numbers that are cut off at 0 and 1."""
        return self.node("Clip", [layer, self._zero, self._one], name)

    def complements(self, layer: str) -> str:
        """Each x beside 1 − x."""
        others = self.node("Sub", [self._one, layer], "complements")
        return self.node("Concat", [layer, others], "pairs", axis=1)

    def attributes(self, pairs: str, width: int, name: str) -> str:
        """Half of a + 1 − b, for what is given back of so many x and 1 − x."""
        axes = self.constant("columns", [1], np.int64)
        bounds = [self.constant(f"column {n}", [n], np.int64) for n in (0, width, 2 * width)]
        found = self.node("Slice", [pairs, *bounds[:2], axes], "x given back")
        others = self.node("Slice", [pairs, *bounds[1:], axes], "1 - x given back")
        others = self.node("Sub", [self._one, others], "x by its complement")
        both = self.node("Add", [found, others], "x twice")
        return self.node("Div", [both, self.constant("two", 2.0)], name)

    def layers(self, layer: str, weights: Sequence[Layer], names: dict[int, str]) -> str:
        """Activations behind layers; some of them, by their numbers from 1, have names."""
        for i, one in enumerate(weights, start=1):
            plus, minus = one if isinstance(one, tuple) else (one, None)
            matrix = self.constant(f"weights {i}", to_numpy(plus))
            drive = self.node("MatMul", [layer, matrix], f"drive {i}")
            if minus is not None:
                matrix = self.constant(f"inhibitory weights {i}", to_numpy(minus))
                blocked = self.node("MatMul", [layer, matrix], f"inhibition {i}")
                blocked = self.node("Add", [blocked, self._one], f"one and inhibition {i}")
                drive = self.node("Div", [drive, blocked], f"ratio {i}")
            layer = self.clip(drive, names.get(i, f"layer {i}"))
        return layer

    def recognise(self, outputs: str, classes: NDArray[Any]) -> None:
        """Shares of the output spikes, equal ones where nothing fires, and the labels."""
        count = len(classes)
        axes = self.constant("axes", [1], np.int64)
        total = self.node("ReduceSum", [outputs, axes], "total", keepdims=1)
        fires = self.node("Greater", [total, self._zero], "fires")
        divisor = self.node("Where", [fires, total, self._one], "divisor")
        shares = self.node("Div", [outputs, divisor], "shares")
        equal = self.constant("equal", 1 / count)
        found = self.node("Where", [fires, shares, equal], "probabilities")
        chosen = self.node("ArgMax", [found], "chosen", axis=1, keepdims=0)
        text = classes.dtype.kind not in "biuf"
        names = self.constant("classes", classes, object if text else classes.dtype)
        label = self.node("Gather", [names, chosen], "label", axis=0)
        element = self._constants[-1].data_type
        self._outputs.append(self._helper.make_tensor_value_info(label, element, ["rows"]))
        self.output(found, count)

    def model(self, name: str) -> Any:
        """All of it."""
        nodes, values = self._nodes, self._constants
        graph = self._helper.make_graph(nodes, name, self._inputs, self._outputs, values)
        return self._helper.make_model(
            graph,
            opset_imports=[self._helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="lrnn",
            producer_version=lrnn.__version__,
        )
