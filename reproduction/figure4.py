"""The paper's Figure 4: what simulations of three networks show, as tables, verdicts and pictures.

A layer is as near to its numbers as its error is small beside them: errors here are relative, the
root mean square error divided by the root mean square of the numeric activations, image by image.
(The plain error would call a layer near because all its neurons are almost at rest.) Intervals are
those of the mean over images, at 95 %.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lrnn.plots import layer_image
from reproduction.axes import COLOURS, SMALL, TITLE, key_below, logarithmic, plain
from reproduction.experiments import OBSERVED_AT
from reproduction.spiking import MEASURES, interval
from reproduction.summary import Result

NETWORKS = {
    "printed": "(a) Algorithm 1 as printed, realised with firing rates",
    "unit": "(b) Algorithm 1 kept to unit rates, w = p",
    "lrnn": "(c) lrnn, free rates",
}
"""What the networks are called."""
OBSERVED = {"potential": "at ticks (ours)", "events": "every 1,000 events (the paper's)"}
"""When potentials are observed."""
CLAIMS = {
    "beginning": "at the beginning only the visual layer is close to its numeric result",
    "evolving": "as time evolves the hidden and output layers become more and more similar",
}


def simulations(results: Iterable[Result]) -> list[tuple[str, Result]]:
    """All networks that were simulated, by name."""
    spiking = [result for result in results if result["kind"] == "spiking"]
    return [pair for result in spiking for pair in result["networks"].items()]


def networks(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each network: whether its weights could be probabilities, and its rates."""
    return [
        {
            "network": NETWORKS[name],
            "encoder_rows_above_one": found["rows_above_one"][0],
            "encoder_largest_row_sum": found["row_sums"][0][1],
            "decoder_rows_above_one": found["rows_above_one"][1],
            "decoder_largest_row_sum": found["row_sums"][1][1],
            "highest_input_rate": found["rates"][0][2],
            "highest_hidden_rate": found["rates"][1][2],
            "events_per_time": found["events_per_time"],
            **{f"{n}_activation": a for n, a in _by_layer(found, "activation")},
            "error": found["error"],
            "valid": found["valid"],
        }
        for name, found in simulations(results)
    ]


def errors(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each network, way to observe and moment: means over images with intervals."""
    rows = []
    for name, found in simulations(results):
        for estimator in OBSERVED_AT:
            for moment in found["relative"][estimator]:
                row: dict[str, Any] = {
                    "network": NETWORKS[name],
                    "observed": OBSERVED[estimator],
                    "events": int(moment),
                }
                for measure in MEASURES:
                    for layer, values in zip(
                        found["layers"], found[measure][estimator][moment], strict=True
                    ):
                        mean, half = interval(values)
                        row |= {f"{layer}_{measure}": mean, f"{layer}_{measure}_half": half}
                rows.append(row)
    return rows


def estimators(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each network and layer: the bias of observing after events, and its variance."""
    rows = []
    for name, found in simulations(results):
        for layer, bias in _by_layer(found, "bias"):
            multiple, half = bias["difference"]
            rows.append(
                {
                    "network": NETWORKS[name],
                    "layer": layer,
                    "neurons": bias["neurons"],
                    "expected_bias": bias["bias"],
                    "largest_expected_bias": bias["largest"],
                    "measured_over_expected": multiple,
                    "measured_over_expected_half": half,
                    "deviation_at_ticks": bias["potential_deviation"],
                    "deviation_after_events": bias["events_deviation"],
                }
            )
    return rows


def verdicts(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each network, way to observe and claim of section 6."""
    rows = []
    for name, found in simulations(results):
        for estimator in OBSERVED_AT:
            for which, judge in (("beginning", _beginning), ("evolving", _evolving)):
                verdict, why = judge(found, estimator)
                rows.append(
                    {
                        "network": NETWORKS[name],
                        "observed": OBSERVED[estimator],
                        "claim": CLAIMS[which],
                        "verdict": verdict,
                        "why": why,
                    }
                )
    return rows


def _beginning(found: dict[str, Any], estimator: str) -> tuple[str, str]:
    """Whether the first layer is nearer than each of the others after the first moment."""
    moment, by_layer = next(iter(found["relative"][estimator].items()))
    first, *others = (np.asarray(values) for values in by_layer)
    apart = [interval(other - first) for other in others]
    alike = [np.mean(v) for v in found["correlation"][estimator][moment]]
    why = (
        f"after {int(moment):,} events the errors are {_listed(found, map(np.mean, by_layer))}, "
        f"and the correlations {_listed(found, alike)}; begun in steady state, without any "
        f"transient, the errors are {_listed(found, found['begun_in_steady_state'][estimator])}"
    )
    nearer = [mean - half > 0 for mean, half in apart]
    if all(nearer):
        return "confirmed", why
    as_near = [n for n, is_nearer in zip(found["layers"][1:], nearer, strict=True) if not is_nearer]
    return "corrected", f"the {' and '.join(as_near)} layer is as near or nearer: {why}"


def _evolving(found: dict[str, Any], estimator: str) -> tuple[str, str]:
    """Whether errors of the later layers fall from moment to moment."""
    moments = list(found["relative"][estimator].values())
    steps = np.diff(np.asarray(moments), axis=0)[:, 1:]  # steps × layers × images
    falls = all(mean + half < 0 for step in steps for mean, half in map(interval, step))
    share = 100 * np.mean(steps < 0)
    fewer = np.mean(moments[0], axis=1) / np.mean(moments[-1], axis=1)
    why = (
        f"errors fall in {share:.0f} % of all steps of single images, from first to last "
        f"{_listed(found, fewer, '.1f')} times"
    )
    return ("confirmed" if falls else "corrected"), why


def pictures(result: Result) -> dict[str, Figure]:
    """The figure with potentials observed at ticks, and after events; and the course of errors."""
    return {
        "figure4": side_by_side(result, "potential"),
        "figure4-events": side_by_side(result, "events"),
        "figure4-errors": courses(result),
    }


def side_by_side(result: Result, estimator: str) -> Figure:
    """Layers of each network as computed, and as simulated: one image."""
    networks = result["networks"]
    figure = Figure(figsize=(4.9 * len(networks), 4.6), layout="constrained", dpi=150)
    parts: Any = figure.subfigures(1, len(networks), wspace=0.03, squeeze=False)
    for part, (name, found) in zip(parts[0], networks.items(), strict=True):
        part.suptitle(NETWORKS[name], fontsize=TITLE)
        errors = {
            moment: [f"error {100 * of_images[0]:.0f} %" for of_images in of_layers]
            for moment, of_layers in found["relative"][estimator].items()
        }
        layers(part, found["layers"], found["numeric"], found["shown"][estimator], errors)
    return figure


def layers(
    figure: Any, names: Sequence[str], numeric: Any, shown: Result, errors: dict[str, list[str]]
) -> None:
    """Draw the layers of one network as computed, and as simulated for so many events."""
    grid = figure.subplots(len(names), 1 + len(shown), squeeze=False)
    for i, name in enumerate(names):
        shape = (28, 28) if len(numeric[i]) == 784 else None
        layer_image(numeric[i], shape=shape, ax=grid[i, 0])
        grid[i, 0].set_ylabel(name, fontsize=TITLE)
        for ax, (moment, simulated) in zip(grid[i, 1:], shown.items(), strict=True):
            layer_image(simulated[i], shape=shape, ax=ax)
            ax.set_xlabel(errors[moment][i], fontsize=SMALL)
    for ax, title in zip(grid[0], ["numeric", *(f"{int(m):,} events" for m in shown)], strict=True):
        ax.set_title(title, fontsize=SMALL)


def courses(result: Result) -> Figure:
    """Relative errors of layers against events, means over images with intervals."""
    found = result["networks"]
    figure = Figure(figsize=(3.4 * len(found), 3.0), layout="constrained", dpi=150)
    panels = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
    for ax, (name, network) in zip(panels, found.items(), strict=True):
        for estimator, dashes in zip(OBSERVED_AT, ("-", ":"), strict=True):
            by_moment = network["relative"][estimator]
            for i, layer in enumerate(network["layers"]):
                ends = [interval(layers[i]) for layers in by_moment.values()]
                ax.errorbar(
                    [int(m) for m in by_moment], [mean for mean, _ in ends],
                    [half for _, half in ends], color=COLOURS[i], linestyle=dashes, linewidth=1.2,
                    capsize=2, label=layer if estimator == OBSERVED_AT[0] else None,
                )  # fmt: skip
        ax.set_xscale("log")
        logarithmic(ax, "y")
        ax.set_title(NETWORKS[name], fontsize=SMALL, loc="left")
        plain(ax, "events", "error beside the numbers" if ax is panels[0] else "")
    key_below(figure, panels[-1])
    return figure


def _by_layer(found: dict[str, Any], what: str) -> Iterable[tuple[str, Any]]:
    return zip(found["layers"], found[what], strict=True)


def _listed(found: dict[str, Any], values: Iterable[Any], digits: str = ".2f") -> str:
    """Such as ``0.24 (input), 0.45 (hidden)``."""
    pairs = zip(found["layers"], values, strict=True)
    return ", ".join(f"{value:{digits}} ({name})" for name, value in pairs)
