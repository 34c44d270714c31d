"""``lrnn demo``: the main job on embedded data."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the picture and the model.")
    ] = Path("lrnn-demo"),
    hidden: Annotated[int, typer.Option(min=1, help="Code neurons.")] = 16,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
) -> None:
    """Train on scikit-learn's digits, audit the network, and draw what it has learnt.

    Takes some seconds, downloads nothing, and writes [bold]digits.png[/bold] and
    [bold]digits.safetensors[/bold] into the output folder.

    Examples:

        lrnn demo

        lrnn demo --hidden 32 --output /tmp/digits
    """
    # imported here, so that `lrnn --help` is instant
    import numpy as np
    from sklearn.datasets import load_digits

    from lrnn.autoencoder import LRNNAutoencoder
    from lrnn.plots import overview
    from lrnn.scaling import Scaling

    console = Console()
    output.mkdir(parents=True, exist_ok=True)
    pixels = load_digits().data
    scaling = Scaling("max", np.zeros(64), np.full(64, 16.0))  # 16 is black
    X = scaling.apply(pixels)
    console.print(f"{len(X)} handwritten digits of 8×8 pixels → {hidden} code neurons\n")

    contenders: dict[str, dict[str, Any]] = {
        "the paper's algorithm": {"solver": "minibatch", "batch_size": 50, "max_iter": 60},
        "lrnn": {},
        "lrnn, fine-tuned": {"fine_tune": 30},
        "lrnn, all rates 1": {"rates": "unit"},
    }
    models = {}
    for name, settings in contenders.items():
        console.print(f"[bold]{name}[/bold]")
        model = LRNNAutoencoder((hidden,), random_state=seed, verbose=1, **settings)
        models[name] = model.fit(X)

    table = Table("", "error", "Σ weights ≤", "Σ probabilities ≤", "spikes")
    for name, model in models.items():
        audit = model.audit()
        table.add_row(
            name,
            f"{model.reconstruction_err_:.4f}",
            f"{audit.largest_row_sum:.2f}",
            f"{audit.largest_routed:.2f}",
            f"{model.spike_cost_:.0f}",
        )
    console.print()
    console.print(table)

    model = models["lrnn, fine-tuned"]
    network = model.to_network()
    q = network.steady_state(model.arrivals(X))
    gap = abs(network.split(q)[-1] - model.reconstruct(X)).max()
    console.print("\nAudit of the fine-tuned network:")
    console.print(str(model.audit(X)), highlight=False, soft_wrap=True)
    console.print(f"its steady state differs from the forward pass by at most {gap:.0e}\n")

    picture, saved = output / "digits.png", output / "digits.safetensors"
    curves = [(name, m.history_[-1]) for name, m in models.items() if name != "lrnn, fine-tuned"]
    overview(X[:40], model.reconstruct(X[:40]), model.components_, curves, (8, 8)).savefig(picture)
    model.save(saved, scaling=scaling.to_json())
    console.print(f"picture: [bold]{picture}[/bold]\nmodel:   [bold]{saved}[/bold]")
