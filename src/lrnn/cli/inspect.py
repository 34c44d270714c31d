"""``lrnn inspect``: what a model is."""

from typing import Annotated, Any

import typer

from lrnn.cli.fit import from_corrupted
from lrnn.cli.inputs import ModelOf, is_classifier, is_detector, load_model
from lrnn.cli.judging import held_out_rows
from lrnn.cli.moment import bound_note, inspect_moment
from lrnn.cli.voice import Json, Quiet, Voice, text_table
from lrnn.progress import decimal

STRONGEST = 4  # attributes that are named of each part
CLASSES = 20  # that are named


def inspect(
    model: ModelOf,
    parts: Annotated[int, typer.Option(min=0, help="How many parts to list.")] = 10,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show a model's structure, its error, the audit of its firing rates, and its parts.

    Of a file with a moment ([bold]lrnn moment[/bold]), show what it is of. A classifier has
    classes, and no parts; of an outlier detector it is shown how it judges.

    A part is what a code neuron adds to the output: its strongest attributes are named, in percent
    of the strongest one. (For pictures of them see [bold]lrnn report[/bold].)

    Examples:

        lrnn inspect wine.safetensors

        lrnn inspect wine.safetensors --parts 100
    """
    from lrnn.storage.moment_files import is_moment
    from lrnn.tables.scaling import Scaling

    if is_moment(model):
        inspect_moment(model, Voice(quiet, as_json))
        return
    found: Any = load_model(model, autoencoder=False, detector=True)
    if is_detector(found):
        _inspect_detector(model, found, Voice(quiet, as_json))
        return
    if is_classifier(found):
        _inspect_classifier(model, found, Voice(quiet, as_json))
        return
    audit = found.audit()
    sizes = found.to_network().layer_sizes or ()
    scaling = found.scaling_ or Scaling("none")
    described = _parts(found)
    costs = found.layer_spike_costs_.tolist()
    voice = Voice(quiet, as_json)
    voice.result(
        {
            "model": str(model),
            "layers": list(sizes),
            "rates": found.rates,
            "solver": found.solver,
            "inhibition": found.inhibitory_encoders_ is not None,
            "spike_penalty": found.spike_penalty,
            "scaling": scaling.kind,
            "complemented": scaling.complemented,
            "corruption": found.corruption,
            "error": found.reconstruction_err_,
            "corrupted_error": found.corrupted_err_,
            "error_is_bound": found.error_is_bound_,
            "spike_cost": found.spike_cost_,
            "layer_spike_costs": costs,
            "valid": audit.valid,
            "largest_row_sum": audit.largest_row_sum,
            "largest_routed": audit.largest_routed,
            "firing_rates": [layer.rates for layer in audit.layers],
            "training": _stages(found),
            "parts": described,
        },
        f"{model}: {' → '.join(map(str, sizes))}, {found.rates} firing rates, trained by "
        f"{found.solver}{_inhibition(found)} on data scaled by {scaling.told}\n"
        f"mean squared error {bound_note(found)}{decimal(found.reconstruction_err_)}"
        f"{from_corrupted(found)}, "
        f"{found.spike_cost_:.4g} firings per unit time "
        f"({' + '.join(f'{cost:.4g}' for cost in costs)} by layer)\n{audit}",
    )
    if parts and not as_json:
        voice.say("")
        voice.say(text_table(*_listed(described[:parts], len(described))))


def _inspect_classifier(path: Any, found: Any, voice: Voice) -> None:
    from lrnn.tables.scaling import Scaling

    audit = found.audit()
    sizes, classes = found.weights_.sizes, found.classes_.tolist()
    scaling = found.scaling_ or Scaling("none")
    costs = found.layer_spike_costs_.tolist()
    inhibition = found.weights_.inhibitory is not None
    price = f" (the logarithm of firings per output spike costs {found.spike_penalty:g})"
    told = ", ".join(map(str, classes[:CLASSES])) + (", …" if len(classes) > CLASSES else "")
    voice.result(
        {
            "model": str(path),
            "layers": list(sizes),
            "classes": classes,
            "inhibition": inhibition,
            "spike_penalty": found.spike_penalty,
            "scaling": scaling.kind,
            "complemented": scaling.complemented,
            "corruption": found.corruption,
            "loss": found.loss_,
            "spike_cost": found.spike_cost_,
            "layer_spike_costs": costs,
            "valid": audit.valid,
            "largest_row_sum": audit.largest_row_sum,
            "largest_routed": audit.largest_routed,
            "firing_rates": [layer.rates for layer in audit.layers],
            "training": _stages(found, "loss"),
        },
        f"{path}: {' → '.join(map(str, sizes))}, a classifier{' with inhibition' * inhibition}"
        f"{price if found.spike_penalty else ''}, on data scaled by {scaling.told}\n"
        f"{len(classes)} classes: {told}\ncross-entropy {found.loss_:.5f}, "
        f"{found.spike_cost_:.4g} firings per unit time "
        f"({' + '.join(f'{cost:.4g}' for cost in costs)} by layer)\n{audit}",
    )


def _inspect_detector(path: Any, found: Any, voice: Voice) -> None:
    from lrnn.tables.scaling import Scaling

    audit = found.audit()
    sizes = found.to_network().layer_sizes or ()
    scaling = found.scaling_ or Scaling("none")
    counts, held = found.typical_counts_, held_out_rows(found)
    kept = 0 if counts is None else len(counts)
    tried = found.width_path_
    by = "auto" if found.contamination == "auto" else f"{found.contamination:g}"
    stands_for = f" for {counts.sum():,.0f} rows" if kept else ""
    voice.result(
        {
            "model": str(path),
            "layers": list(sizes),
            "scaling": scaling.kind,
            "complemented": scaling.complemented,
            "missing": found.missing,
            "contamination": found.contamination,
            "offset": found.offset_,
            "flagged_share": found.flagged_share_,
            "held_out": held,
            "typical_rows": kept,
            "widths_tried": None if tried is None else [point.width for point in tried.points],
            "valid": audit.valid,
            "largest_row_sum": audit.largest_row_sum,
            "largest_routed": audit.largest_routed,
            "firing_rates": [layer.rates for layer in audit.layers],
        },
        f"{path}: {' → '.join(map(str, sizes))}, an outlier detector, on data scaled by "
        f"{scaling.told}\n"
        f"{kept:,} typical rows{stands_for}; rows with a score below {found.offset_:.4g} are "
        f"outliers (contamination {by}), {100 * found.flagged_share_:.3g} % of {held:,} that were "
        f"held out\n{audit}",
    )


def _stages(model: Any, measure: str = "error") -> list[dict[str, Any]]:
    """How training went; what was to become low is called the ``measure``."""
    return [
        {
            "stage": c.stage,
            "layer": c.layer,
            "passes": c.passes,
            measure: c.lowest,
            "stopped": c.stopped,
        }
        for c in model.history_
    ]


def _inhibition(model: Any) -> str:
    if model.inhibitory_encoders_ is None:
        return ""
    price = f" (a spike costs {model.spike_penalty:g})" if model.spike_penalty else ""
    return f" with inhibition{price}"


def _parts(model: Any) -> list[dict[str, Any]]:
    """Each code neuron's strongest attributes, and how many it has."""
    import numpy as np

    from lrnn.tables.scaling import input_names

    attributes = [f"attribute {i + 1}" for i in range(model.n_features_in_)]
    names = getattr(model, "feature_names_in_", attributes)
    names = input_names(names, model.scaling_)
    found = []
    for component in np.asarray(model.components_, dtype=np.float64):
        share = component / (component.max() or 1)
        order = [i for i in np.argsort(-share, kind="stable")[:STRONGEST] if share[i] > 0]
        found.append(
            {
                "attributes": int((share >= 0.1).sum()),
                "strongest": {names[i]: float(share[i]) for i in order},
            }
        )
    return found


def _listed(parts: list[dict[str, Any]], count: int) -> tuple[list[str], list[list[str]], str]:
    rows = [
        [
            str(i),
            str(part["attributes"]),
            ", ".join(f"{name} {100 * share:.0f} %" for name, share in part["strongest"].items()),
        ]
        for i, part in enumerate(parts, start=1)
    ]
    title = f"{len(parts)} of {count} parts" if len(parts) < count else f"{count} parts"
    return ["part", "attributes (≥ 10 %)", "strongest"], rows, title
