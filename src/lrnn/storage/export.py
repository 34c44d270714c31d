"""Models for other programs: PyTorch modules and ONNX files."""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import lrnn
from lrnn.arrays import Array, Layer, to_numpy
from lrnn.tables.atomic import write_atomically
from lrnn.tables.scaling import Scaling

if TYPE_CHECKING:
    import torch

    from lrnn.autoencoder import LRNNAutoencoder

__all__ = ["to_onnx", "to_torch"]

OPSET, IR_VERSION = 17, 8  # of 2022: read by all that is in use


def to_torch(model: "LRNNAutoencoder") -> "torch.nn.Sequential":
    """The model as a plain PyTorch module; see :meth:`lrnn.LRNNAutoencoder.to_torch`."""
    try:
        from torch import from_numpy, nn
    except ImportError:
        raise ImportError("to_torch needs PyTorch: pip install 'lrnn[torch]'") from None
    check_is_fitted(model)

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

    def layers(weights: Iterable[Layer]) -> "list[nn.Module]":
        modules: list[nn.Module] = []
        for weight in weights:
            pair = isinstance(weight, tuple)
            module = Inhibited(*map(to_numpy, weight)) if pair else linear(to_numpy(weight))
            modules += [module, nn.Hardtanh(0.0, 1.0)]
        return modules

    encoder = nn.Sequential(nn.Hardtanh(0.0, 1.0), *layers(model.weights_.encoding))
    decoder = nn.Sequential(*layers(model.weights_.decoding))
    return nn.Sequential(OrderedDict(encoder=encoder, decoder=decoder))


def to_onnx(
    model: "LRNNAutoencoder",
    path: str | os.PathLike[str],
    *,
    scaling: bool = False,
    dtype: str | None = None,
) -> None:
    """Write the model as an ONNX file of MatMul and Clip nodes (Add and Div with inhibition).

    Parameters
    ----------
    model : LRNNAutoencoder
        A fitted model.
    path : str or path-like
        The file. Its input is ``data`` (any number of rows), its outputs are ``codes`` and
        ``reconstruction``, all in [0, 1].
    scaling : bool, default=False
        Begin with the scaling that the model remembers, or the division of levels that it learnt
        from by the highest: ``data`` are then raw.
    dtype : {"float32", "float64"}, optional
        The type of all numbers; by default that of the weights.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise ImportError("writing ONNX files needs onnx: pip install 'lrnn[onnx]'") from None
    check_is_fitted(model)
    elements = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
    kind: str = dtype or to_numpy(model.encoders_[0]).dtype.name
    if kind not in elements:
        raise ValueError(f"dtype must be {' or '.join(elements)}; got {kind!r}")
    constants: list[Any] = []
    nodes: list[Any] = []

    def constant(name: str, value: Any) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype=kind), name))
        return name

    def scalar(name: str, value: float) -> str:
        constants.append(numpy_helper.from_array(np.array(value, dtype=kind), name))
        return name

    def node(operation: str, inputs: list[str], output: str) -> str:
        nodes.append(helper.make_node(operation, inputs, [output], name=f"{operation} {output}"))
        return output

    zero, one = scalar("zero", 0.0), scalar("one", 1.0)
    layer = "data"
    if scaling:
        how = model.scaling_ or Scaling("none")
        span = np.where(np.asarray(how.span) == 0, np.inf, how.span) * (model.white_ or 1.0)
        layer = node("Sub", [layer, constant("low", how.low)], "shifted")
        layer = node("Div", [layer, constant("span", span)], "scaled")
    layer = node("Clip", [layer, zero, one], "input")
    n_encoders = len(model.encoders_)
    weights = [to_numpy(w) for w in model.weights_.excitatory]
    inhibitory = model.weights_.inhibitory
    for i, weight in enumerate(weights, start=1):
        drive = node("MatMul", [layer, constant(f"weights {i}", weight)], f"drive {i}")
        if inhibitory is not None:
            minus = constant(f"inhibitory weights {i}", to_numpy(inhibitory[i - 1]))
            blocked = node("MatMul", [layer, minus], f"inhibition {i}")
            blocked = node("Add", [blocked, one], f"one and inhibition {i}")
            drive = node("Div", [drive, blocked], f"ratio {i}")
        name = {n_encoders: "codes", len(weights): "reconstruction"}.get(i, f"layer {i}")
        layer = node("Clip", [drive, zero, one], name)

    def face(name: str, width: int) -> Any:
        return helper.make_tensor_value_info(name, elements[kind], ["rows", width])

    attributes = model.n_features_in_
    graph = helper.make_graph(
        nodes,
        "lrnn autoencoder",
        [face("data", attributes)],
        [face("codes", weights[n_encoders].shape[0]), face("reconstruction", attributes)],
        constants,
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="lrnn",
        producer_version=lrnn.__version__,
    )
    helper.set_model_props(
        made,
        {
            "scaling": json.dumps(model.scaling_ and model.scaling_.to_json()),
            "scaled inside": str(scaling),
        },
    )
    onnx.checker.check_model(made)
    write_atomically(Path(path), made.SerializeToString())
