"""What a report says: numbers, tables and pictures, section by section."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias

import numpy as np

from lrnn import plots
from lrnn.analysis.audit import Recognised, Standing
from lrnn.analysis.frontiers import readable
from lrnn.arrays import Floats
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.functional.shares import shares
from lrnn.network import layer_names
from lrnn.plots.distributions import NEARLY_ZERO
from lrnn.plots.networks import figure_size
from lrnn.plots.spikes import EVENTS_SHOWN, MOST_NAMED
from lrnn.progress import decimal
from lrnn.report import pictures
from lrnn.report.machine import machine
from lrnn.report.subject import Subject

MOST_PARTS = 100  # that are shown
MOST_BARS = 8  # attributes of a part of a table
PAIRS = 24  # rows that are shown with their reconstructions, if they are images
ROWS = 6  # likewise, if they are of a table
MOST_ATTRIBUTES = 60  # that get a line of their own


@dataclass(frozen=True)
class TableOf:
    """Numbers that can be copied."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def number(value: float | None) -> str:
    """As short as it may be."""
    return "–" if value is None else f"{value:.4g}"


def audited(subject: Subject) -> dict[str, Any]:
    """Whether it is a random neural network."""
    audit = subject.audit
    table = TableOf(
        "The layers of the network that is simulated",
        ["layer", "neurons", "lowest rate", "median rate", "highest rate", "largest row sum",
         "rows above 1", "largest Σ probabilities", "silent", "saturated"],
        [
            [layer.name, str(layer.neurons), *map(number, layer.rates),
             number(layer.row_sums and layer.row_sums[1]), number(layer.rows_above_one),
             number(layer.routed), number(layer.silent), number(layer.saturated)]
            for layer in audit.layers
        ],
    )  # fmt: skip
    quality = ["accuracy", "cross-entropy", "firings per output spike"]
    quality = quality if subject.classifies else ["error"]
    comparison = TableOf(
        "Beside other trainings of the same data, which each model has scaled as it remembers",
        ["", *quality, "largest row sum", "rows above 1", "largest Σ probabilities", "spikes"],
        [_line(name, each) for name, each in {"this model": subject, **subject.against}.items()],
    )
    return {
        "audit": audit,
        "layers": table,
        "comparison": comparison if subject.against else None,
        "others": [
            (name, other.model.audit())
            for name, other in subject.against.items()
            if _printed(other.model)
        ],
        "printed": _printed(subject.model),
    }


def learning(subject: Subject) -> dict[str, Any]:
    """How the error fell."""
    model, standing, bound = subject.model, subject.audit.standing, {}
    if isinstance(standing, Standing):
        which = "network with unit rates" if standing.rates == "unit" else "linear map"
        bound = {f"no {which} is below": standing.bound}
    elif isinstance(standing, Recognised):
        bound = {"how common each class is": standing.entropy}
    what, of = "error", ""
    if isinstance(model, LRNNClassifier):
        what, lowest = "cross-entropy", model.history_[-1].lowest
        of = " that were held out" if model.early_stopping else ""
        of += " (as training sees them, corrupted)" if model.corruption is not None else ""
    else:
        lowest = model.reconstruction_err_
        if model.corrupted_err_ is not None:  # the curve is that of corrupted rows
            lowest, bound, of = model.corrupted_err_, {}, ", from corrupted ones"
    if subject.against:
        curves: Any = {"this model": model.history_}
        curves |= {name: other.model.history_ for name, other in subject.against.items()}
    else:
        curves = model.history_
    drawn = pictures.figure(
        lambda ax: plots.learning_curves(curves, bounds=bound, ax=ax),
        "learning",
        f"Learning curve: the {what} falls to {lowest:.4g}",
    )
    rows = [
        [
            curve.name,
            str(len(curve.batch_errors)),
            str(curve.passes),
            decimal(curve.errors[0]),
            decimal(curve.lowest),
            f"{curve.seconds[-1]:.2f}",
            STOPPED[curve.stopped],
        ]
        for curve in model.history_
    ]
    first = f"first {what}"
    header = ["stage", "iterations", "passes", first, f"lowest {what}", "seconds", "ended by"]
    stages = list(dict.fromkeys(curve.stage for curve in model.history_ if curve.stage))
    table = TableOf("Stages of the training", header, rows)
    return {"figure": drawn, "table": table, "stages": stages, "what": what, "of": of}


STOPPED = {
    "max_iter": "the number of passes",
    "tol": "lack of progress",
    "interrupted": "Ctrl-C",
    "callback": "a callback",
}


def reconstructions(subject: Subject) -> dict[str, Any]:
    """Data beside what the network makes of them."""
    count = PAIRS if subject.image_shape is not None else ROWS
    chosen = np.unique(np.linspace(0, subject.shape[0] - 1, count).astype(int))
    given = subject.cells(chosen)
    back = subject.given_back(chosen)
    if subject.image_shape is None:
        rows = [
            _bars(subject, int(i), above, below)
            for i, above, below in zip(chosen, given, back, strict=True)
        ]
        return {"images": None, "rows": rows, **_of_table(subject)}
    ink = pictures.is_ink(given)
    images = [
        (
            pictures.pair(above, below, subject.image_shape, ink),
            f"Row {subject.number_in_file(int(i))}: data above, reconstruction below; "
            f"mean squared error {np.mean((above - below) ** 2):.4f}",
        )
        for i, above, below in zip(chosen, given, back, strict=True)
    ]
    return {"images": images}


def _bars(subject: Subject, row: int, given: Floats, back: Floats) -> dict[str, Any]:
    """A row of a table as named bars, the data beside the reconstruction, in percent."""
    shown = np.sort(np.argsort(-np.maximum(given, back), kind="stable")[:MOST_NAMED])
    return {
        "number": subject.number_in_file(row),
        "error": f"{np.mean((given - back) ** 2):.4f}",
        "left": len(given) - len(shown),
        "bars": [
            (attribute(subject, a), *(f"{100 * min(max(v[a], 0), 1):.0f}" for v in (given, back)))
            for a in shown
        ],
    }


def _of_table(subject: Subject) -> dict[str, Any]:
    rows = slice(None, None, -(-subject.shape[0] // 20_000))
    given = subject.cells(rows)
    back = subject.given_back(rows)
    errors, variances = ((given - back) ** 2).mean(axis=0), given.var(axis=0)
    order = np.argsort(-errors, kind="stable")[:MOST_ATTRIBUTES]
    lines = [
        [
            attribute(subject, i),
            f"{np.sqrt(errors[i]):.4f}",
            f"{np.sqrt(variances[i]):.4f}",
            f"{100 * (1 - errors[i] / variances[i]):.1f} %" if variances[i] > 0 else "–",
        ]
        for i in order
    ]
    left = given.shape[1] - len(order)
    names = [attribute(subject, i) for i in range(given.shape[1])]
    return {
        "figure": pictures.figure(
            lambda ax: plots.reconstructions(given, back, names=names, ax=ax),
            "scatter",
            "Reconstructions against data: points near the diagonal are well reconstructed",
            (3.8, 3.6),
        ),
        "table": TableOf(
            "Attributes, the worst first" + (f" ({left} more are better)" if left else ""),
            ["attribute", "RMS error", "standard deviation", "explained"],
            lines,
        ),
    }


def parts(subject: Subject) -> dict[str, Any]:
    """What each code neuron adds, the most used ones first."""
    components = np.asarray(subject.autoencoder.components_, dtype=np.float64)
    used = subject.codes.mean(axis=0) * components.sum(axis=1)
    share = used / (used.sum() or 1)
    order, names = np.argsort(-used, kind="stable")[:MOST_PARTS], subject.inputs
    shown: list[dict[str, Any]] = []
    for i in order:
        part = components[i] / (components[i].max() or 1)
        entry = {"number": int(i), "share": f"{100 * share[i]:.1f} %", "image": None, "bars": None}
        if subject.input_shape is not None:
            entry["image"] = pictures.image(part, subject.input_shape, ink=True)
        elif subject.image_shape is not None:  # of which complements cannot be drawn
            part = part[: subject.shape[1]]
            entry["image"] = pictures.image(part, subject.image_shape, ink=True)
        else:
            largest = [a for a in np.argsort(-part, kind="stable")[:MOST_BARS] if part[a] >= 0.01]
            entry["bars"] = [(names[a], f"{100 * part[a]:.0f}") for a in largest]
        shown.append(entry)
    return {"parts": shown, "count": len(components), "left": len(components) - len(shown)}


def codes(subject: Subject) -> dict[str, Any]:
    """How sparse the codes are."""
    values = subject.codes
    active = (values >= NEARLY_ZERO).sum(axis=1)
    drawn = pictures.figure(
        lambda ax: plots.codes(values, ax=ax),
        "codes",
        f"Histogram of code values: {100 * (values < NEARLY_ZERO).mean():.0f} % are below 0.01",
    )
    rows = [
        ["values below 0.01", f"{100 * (values < NEARLY_ZERO).mean():.1f} %"],
        ["values above 0.99", f"{100 * (values > 0.99).mean():.1f} %"],
        ["neurons at work per row, median", f"{np.median(active):.0f} of {values.shape[1]}"],
        ["mean code", f"{values.mean():.4f}"],
        ["Hoyer's sparsity, mean", f"{hoyer(values):.3f}"],
    ]
    table = TableOf("Sparsity of the codes", ["", ""], rows)
    coloured = None
    if subject.classes is not None:
        coloured = pictures.figure(
            lambda ax: plots.classes(values, subject.classes, ax=ax),
            "classes",
            f"Codes in the plane in which they vary most, coloured by {subject.label}",
        )
    return {"figure": drawn, "table": table, "classes": coloured}


def hoyer(values: Floats) -> float:
    """Hoyer's measure of rows, averaged: 0 if all of a row's values are equal, 1 if one is not 0.

    >>> hoyer(np.array([[0.0, 3.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]))
    0.5
    """
    width = values.shape[1]
    lengths = np.sqrt((values**2).sum(axis=1))
    seen = values[lengths > 0]
    if width < 2 or not len(seen):
        return 0.0
    ratio = seen.sum(axis=1) / lengths[lengths > 0]
    return float(np.mean((np.sqrt(width) - ratio) / (np.sqrt(width) - 1)))


def spiking(subject: Subject) -> dict[str, Any]:
    """The steady state as computed, and as counted from spikes."""
    result = subject.simulation
    network = result.network
    exact = network.split(np.asarray(result.steady))
    found = [network.split(result.at(m).activation()) for m in EVENTS_SHOWN]
    shape, ink = subject.input_shape, pictures.is_ink(exact[0])
    layers = []
    for i, name in enumerate(result.layer_names):
        outer = shape if i == 0 or (i == len(exact) - 1 and not subject.classifies) else None

        def picture(values: Floats, outer: tuple[int, ...] | None = outer) -> str:
            return pictures.image(values, outer, ink) if outer else pictures.square(values, ink)

        errors = [float(np.sqrt(np.mean((f[i] - exact[i]) ** 2))) for f in found]
        steps = [(picture(f[i]), f"{e:.4f}") for f, e in zip(found, errors, strict=True)]
        layers.append({"name": name, "exact": picture(exact[i]), "steps": steps})
    steady = np.asarray(result.steady)
    table = TableOf(
        "Root mean square error",
        ["events", *result.layer_names],
        [
            [f"{moment:,}", *(layer["steps"][k][1] for layer in layers)]
            for k, moment in enumerate(EVENTS_SHOWN)
        ],
    )
    return {
        "figure": _layers_as_bars(subject),
        "layers": layers,
        "moments": [f"{m:,}" for m in EVENTS_SHOWN],
        "table": table,
        "decided": _decided(subject, exact[-1], [f[-1] for f in found]),
        "last": f"{np.sqrt(np.mean((result.activation() - steady) ** 2)):.3f}",
        "covered": None if isnan(share := result.coverage()) else f"{100 * share:.0f}",
        "neurons": network.n_neurons,
        "row": subject.row_number,
        "saturated": int(result.saturated.sum()),
        "short": int(result.short.sum()),
        "time": f"{float(result.time):.2g}",
        "convergence": pictures.figure(
            lambda ax: plots.convergence(result, ax=ax),
            "convergence",
            "Error to the numeric activations against events, falling like one over their root",
        ),
        "raster": pictures.figure(
            lambda ax: plots.raster(subject.recorded, ax=ax),
            "raster",
            f"Spike raster of {len(subject.shown_neurons)} neurons",
        ),
        "recorded": len(subject.shown_neurons),
    }


def _decided(subject: Subject, exact: Floats, found: Sequence[Floats]) -> TableOf | None:
    """Shares of the output spikes, of the classes that get most of them; none of an autoencoder."""
    model = subject.model
    if not isinstance(model, LRNNClassifier):
        return None
    told = [shares(np.atleast_2d(outputs))[0] for outputs in (exact, *found)]
    order = np.argsort(-told[0], kind="stable")[:MOST_BARS]
    return TableOf(
        f"Classes of row {subject.row_number}",
        ["class", "numeric", *(f"{m:,} events" for m in EVENTS_SHOWN)],
        [[str(model.classes_[i]), *(f"{100 * each[i]:.1f} %" for each in told)] for i in order],
    )


def _layers_as_bars(subject: Subject) -> Any:
    """Layers as computed and as simulated, of a table that is not too wide; else nothing."""
    names = subject.inputs
    if subject.image_shape is not None or len(names) > MOST_NAMED:
        return None
    moments = ", ".join(f"{m:,}" for m in EVENTS_SHOWN)
    return pictures.markup(
        plots.simulated_layers(
            subject.simulation,
            EVENTS_SHOWN,
            names=names,
            classes=getattr(subject.model, "classes_", None),
        ),
        "layers",
        f"Activations of each layer as bars: numeric, and after {moments} events",
    )


def drawn(subject: Subject) -> dict[str, Any]:
    """The network itself: neurons, weights, rates."""
    model, sizes = subject.model, subject.model.weights_.sizes
    return {
        "figure": pictures.figure(
            lambda ax: plots.network(model, names=subject.attributes, ax=ax),
            "network",
            f"The network: {' → '.join(map(str, sizes))} neurons as circles, the larger the "
            "faster they fire, and weights between them as lines",
            figure_size(sizes),
        ),
    }


def rates(subject: Subject) -> dict[str, Any]:
    """The firing rates that the weights need."""
    model = subject.model
    costs = model.layer_spike_costs_
    layers = layer_names(len(costs) + 1)[:-1]
    rows = [[name, readable(cost)] for name, cost in zip(layers, costs, strict=True)]
    return {
        "figure": pictures.figure(
            lambda ax: plots.firing_rates(model, ax=ax),
            "rates",
            "Histogram of firing rates, layer by layer",
        ),
        "cost": readable(model.spike_cost_),
        "table": TableOf("Spikes per unit time", ["layer", "spikes"], rows),
    }


def frontier(subject: Subject) -> dict[str, Any]:
    """Error against spikes, and this model beside it; nothing, if nobody has drawn it."""
    found, model = subject.frontier, subject.model
    if found is None or isinstance(model, LRNNClassifier):
        return {"figure": None}
    point = model.spike_cost_, model.reconstruction_err_
    shown = point[0] <= 10 * max(p.spikes for p in found.points if p.penalty != 0)
    return {
        "figure": pictures.figure(
            lambda ax: plots.frontier(
                found, known=subject.known, point=point if shown else None, ax=ax
            ),
            "frontier",
            "Error against spikes, from the excitatory network to those with the lowest errors",
            (5.2, 3.6),
        ),
        "table": TableOf(f"Networks of {found.name}", found.header, found.lines()),
        "shown": shown,
    }


def made(subject: Subject) -> dict[str, Any]:
    """How the report came about."""
    model = subject.model if subject.findings is None else subject.findings.detector
    parameters = [(name, str(value)) for name, value in sorted(model.get_params().items())]
    facts = [
        ["rows", f"{subject.shape[0]:,}"],
        ["attributes", f"{subject.shape[1]:,}"],
        ["seed of the training", str(model.random_state)],
        ["seed of the simulation", str(subject.seed)],
        *map(list, machine()),
    ]
    return {
        "command": subject.command,
        "facts": TableOf("Data, seeds, versions and machine", ["", ""], facts),
        "parameters": TableOf("Parameters of the model", ["", ""], [list(p) for p in parameters]),
    }


def attribute(subject: Subject, i: int) -> str:
    """The name of an attribute."""
    return subject.attributes[i] if subject.attributes else f"attribute {i + 1}"


def _printed(model: LRNNAutoencoder | LRNNClassifier) -> bool:
    if isinstance(model, LRNNClassifier):
        return False
    return bool(model.solver == "minibatch" and model.rates == "free")


def _line(name: str, subject: Subject) -> list[str]:
    model = subject.model
    audit = model.audit()
    above = sum(layer.rows_above_one or 0 for layer in audit.layers)
    quality = ["–", "–", "–"]
    if isinstance(model, LRNNAutoencoder):
        quality = [decimal(-model.score(subject.rows))]
    elif (found := subject.standing) is not None:
        quality = [f"{found.accuracy:.4f}", f"{found.loss:.5f}", readable(found.spikes)]
    return [
        name,
        *quality,
        number(audit.largest_row_sum),
        str(above),
        f"{audit.largest_routed:.6f}",
        readable(model.spike_cost_) if subject.classifies else f"{model.spike_cost_:,.0f}",
    ]


Section: TypeAlias = Callable[[Subject], dict[str, Any]]

SHARED: tuple[Section, ...] = (audited, learning, drawn, codes, spiking, rates, made)
"""Sections of the page of any model."""

SECTIONS: tuple[Section, ...] = (*SHARED, reconstructions, parts, frontier)
"""Those of an autoencoder; a template knows what they make by their names."""
