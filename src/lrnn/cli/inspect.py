"""``lrnn inspect``: what a model is."""

from pathlib import Path
from typing import Annotated

import typer

from lrnn.cli.voice import Json, Quiet, Voice


def inspect(
    model: Annotated[Path, typer.Argument(help="A model that lrnn fit has written.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show a model's structure, its error, and the audit of its firing rates and probabilities.

    Examples:

        lrnn inspect wine.safetensors
    """
    import lrnn
    from lrnn.scaling import Scaling

    found = lrnn.load(model)
    audit = found.audit()
    network = found.to_network()
    sizes = network.layer_sizes or ()
    try:
        scaling = Scaling.from_json(found.scaling_).kind
    except ValueError:  # saved from Python, which may note anything
        scaling = str(found.scaling_)
    lines = [
        f"{model}: {' → '.join(map(str, sizes))}, {found.rates} firing rates, trained by "
        f"{found.solver} on data scaled by {scaling}",
        f"mean squared error {found.reconstruction_err_:.5f}, {found.spike_cost_:.4g} firings per "
        "unit time",
        str(audit),
    ]
    Voice(quiet, as_json).result(
        {
            "model": str(model),
            "layers": list(sizes),
            "rates": found.rates,
            "solver": found.solver,
            "scaling": scaling,
            "error": found.reconstruction_err_,
            "spike_cost": found.spike_cost_,
            "valid": audit.valid,
            "largest_row_sum": audit.largest_row_sum,
            "largest_routed": audit.largest_routed,
        },
        "\n".join(lines),
    )
