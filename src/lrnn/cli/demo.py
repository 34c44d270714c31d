"""``lrnn demo``: the main job on embedded data."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lrnn.cli.inputs import MOST_NEURONS, Seed
from lrnn.cli.outputs import Force, check_new
from lrnn.cli.report import check_folder, write
from lrnn.cli.voice import Json, Quiet, Voice, text_table


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the report and the models.")
    ] = Path("lrnn-demo"),
    force: Force = False,
    hidden: Annotated[int, typer.Option(min=1, max=MOST_NEURONS, help="Code neurons.")] = 16,
    seed: Seed = 0,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train on scikit-learn's digits, audit the network, simulate it, and write a report.

    The paper's algorithm as printed and lrnn's are trained side by side. Takes some seconds,
    downloads nothing, and writes [bold]index.html[/bold], [bold]digits.png[/bold] and both models
    into the output folder, and [bold]live.html[/bold], in which both run spike by spike.

    Examples:

        lrnn demo

        lrnn demo --open

        lrnn demo --hidden 32 --output /tmp/digits
    """
    # imported here, so that `lrnn --help` is instant
    from lrnn.datasets import load
    from lrnn.plots import overview
    from lrnn.plots.axes import write_figure
    from lrnn.report import Subject
    from lrnn.tables.marks import is_marked

    voice = Voice(quiet, as_json)
    check_folder(output)
    page, picture, running = (output / name for name in ("index.html", "digits.png", LIVE))
    check_new(
        force,
        page,
        picture,
        running,
        *(output / name for name in FILES.values()),
        own=lambda: is_marked(page) and is_marked(picture),
    )
    output.mkdir(parents=True, exist_ok=True)
    digits = load("digits")
    X, shape = digits.data, digits.image_shape
    voice.say(f"{len(X):,} handwritten digits of 8×8 pixels → {hidden} code neurons\n")

    models = train(X, hidden, seed, voice)
    voice.say("")
    voice.say(text_table(HEADER, [_line(name, model) for name, model in models.items()], ""))
    model = models[OURS]
    network = model.to_network()
    gap = abs(network.split(network.steady_state(model.arrivals(X)))[-1] - model.reconstruct(X))
    voice.say(f"\n{model.audit(X)}")
    voice.say(f"its steady state differs from the forward pass by at most {gap.max():.0e}\n")

    write_figure(overview(model, X, shape=shape, curves=models), picture)
    subject = Subject(
        model,
        X,
        name="digits",
        command=shlex.join(["lrnn", *sys.argv[1:]]),
        image_shape=shape,
        against={PRINTED: Subject(models[PRINTED], X, name="digits", command="")},
        seed=seed,
        live=LIVE,
    )
    write(subject, output, voice)
    demo_page(models, seed, report=page.name).save(running)
    for name, trained in models.items():  # last: beside a page of lrnn they are known as its own
        _save(trained, output / FILES[name])
    spikes = float(subject.simulation.compare().errors[-1].mean())
    numbers = {
        "error": model.reconstruction_err_,
        "error_of_printed_algorithm": models[PRINTED].reconstruction_err_,
        "largest_routed": subject.audit.largest_routed,
        "simulation_rmse": spikes,
    }
    voice.result(
        {"report": str(page), "live": str(running), "model": str(output / FILES[OURS]), **numbers},
        "Three numbers that matter:\n"
        f"  {model.reconstruction_err_:.4f}   mean squared error; {PRINTED}: "
        f"{models[PRINTED].reconstruction_err_:.4f}\n"
        f"  {subject.audit.largest_routed:.4f}   largest sum of a neuron's routing probabilities: "
        f"{'at most 1, a valid' if subject.audit.valid else 'NOT a valid'} spiking network\n"
        f"  {spikes:.4f}   difference between a million simulated spikes and the numbers (RMS)\n\n"
        f"report:  {page}\nlive:    {running}\npicture: {picture}\n"
        f"model:   {output / FILES[OURS]}\n"
        f"next:    lrnn simulate {output / FILES[OURS]} digits --row 7",
    )
    if open_it:
        typer.launch(page.resolve().as_uri())


def train(X: Any, hidden: int, seed: int, voice: Voice) -> dict[str, Any]:
    """The paper's algorithm as printed, and lrnn's, on the same data."""
    from lrnn.estimators.autoencoder import LRNNAutoencoder

    models = {}
    for name, settings in CONTENDERS.items():
        voice.say(name)
        model = LRNNAutoencoder((hidden,), random_state=seed, verbose=voice.verbose, **settings)
        models[name] = model.fit(X)
        if model.history_[-1].stopped == "interrupted":
            raise KeyboardInterrupt
    return models


def demo_page(models: dict[str, Any], seed: int, report: str | None = None) -> Any:
    """A page in which the demo's networks run; with its first digits, two of each."""
    from lrnn.datasets import load
    from lrnn.live import LivePage, Scene, live_page

    digits = load("digits")
    names = [f"a {label}" for label in digits.target[:LIVE_ROWS]]
    scene = Scene(
        {name: models[name] for name in (OURS, PRINTED)},
        digits.data[:LIVE_ROWS],
        name="digits",
        image_shape=digits.image_shape,
        row_names=names,
        seed=seed,
    )
    return LivePage(live_page(scene, title="Handwritten digits, live", report=report, tour=True))


PRINTED, OURS = "the paper's algorithm", "lrnn"
CONTENDERS: dict[str, dict[str, Any]] = {
    PRINTED: {"solver": "minibatch", "batch_size": 50, "max_iter": 60},
    OURS: {"fine_tune": 30},
}
LIVE, LIVE_ROWS = "live.html", 20
FILES = {PRINTED: "printed.safetensors", OURS: "digits.safetensors"}
HEADER = ("", "error", "Σ weights ≤", "Σ probabilities ≤", "spikes")


def _line(name: str, model: Any) -> list[str]:
    audit = model.audit()
    return [
        name,
        f"{model.reconstruction_err_:.4f}",
        f"{audit.largest_row_sum:.2f}",
        f"{audit.largest_routed:.2f}",
        f"{model.spike_cost_:.0f}",
    ]


def _save(model: Any, path: Path) -> None:
    """With its scaling: 16 is black."""
    from lrnn.tables.scaling import Scaling

    model.scale = model.scaling_ = Scaling("levels", 0.0, 16.0)
    model.save(path)
