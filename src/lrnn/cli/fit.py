"""``lrnn fit``: train a model."""

from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from lrnn.cli.cluster import Dask, Workers, cluster, on_cluster
from lrnn.cli.fit_classifier import ClassWeight, Recognising, fit_classifier, recognition_option
from lrnn.cli.inputs import (
    BatchSize,
    DataOf,
    DeviceOf,
    Hidden,
    Resume,
    Seed,
    ToTrainOn,
    going_on,
    hidden_note,
    hidden_rule,
    layer_sizes,
    say_how_to_go_on,
    tell,
    wide_note,
)
from lrnn.cli.model_place import ModelPlace
from lrnn.cli.moment import bound_note, check_no_rows_needed, moment_in
from lrnn.cli.outputs import Force
from lrnn.cli.tables import TableOptions, scale_note, takes_tables
from lrnn.cli.voice import Json, Quiet, Voice
from lrnn.progress import decimal

Solver = StrEnum("Solver", ["gram", "minibatch"])
Rates = StrEnum("Rates", ["free", "unit"])
Stacking = StrEnum("Stacking", ["layerwise", "joint"])
STEPS = 200  # at most, or passes, unless it is said how many


@takes_tables(complement=True)
def fit(
    data: DataOf,
    options: TableOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model; by default DATA.safetensors, here."),
    ] = None,
    hidden: Hidden = None,
    solver: Annotated[Solver, typer.Option(help="minibatch is the paper's.")] = Solver.gram,
    rates: Annotated[Rates, typer.Option(help="unit is the paper's constraint.")] = Rates.free,
    stacking: Annotated[
        Stacking, typer.Option(help="How several hidden layers are trained.")
    ] = Stacking.layerwise,
    fine_tune: Annotated[int, typer.Option(min=0, help="Passes of training end to end.")] = 0,
    inhibition: Annotated[
        bool, typer.Option("--inhibition", help="Let neurons inhibit each other, too.")
    ] = False,
    spike_penalty: Annotated[
        float,
        typer.Option(
            min=0,
            help="With --inhibition, what a spike costs, in error; with --classify, what the "
            "logarithm of the firings per output spike costs, such as 0.01.",
        ),
    ] = 0.0,
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping", help="With --inhibition or --classify, stop by rows held out."
        ),
    ] = False,
    corruption: Annotated[
        tuple[str, float] | None,
        typer.Option(
            metavar="KIND LEVEL",
            help="Learn from corrupted rows: mask 0.5 (half of the cells are 0), noise 0.1 (of "
            "that standard deviation).",
        ),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Most steps, or passes; by default {STEPS}, with --classify 40 (or as many as "
            "make 200 steps).",
        ),
    ] = None,
    tol: Annotated[
        float, typer.Option(min=0, help="Stop when the error falls by a smaller share; 0: never.")
    ] = 1e-4,
    batch_size: BatchSize = 100,
    seed: Seed = 0,
    device: DeviceOf = None,
    dask: Dask = None,
    workers: Workers = None,
    checkpoint: Annotated[
        float, typer.Option(min=0, help="Seconds between checkpoints; they go beside the model.")
    ] = 60.0,
    resume: Resume = None,
    classify: Annotated[
        bool,
        recognition_option(
            "--classify",
            help="Train a classifier: of the column --label, or the classes that the data have; by "
            "default with 300 hidden neurons.",
        ),
    ] = False,
    label_smoothing: Annotated[
        float,
        recognition_option(
            min=0, max=0.99, help="The share of a row's weight for all classes alike, such as 0.1."
        ),
    ] = 0.0,
    dropout: Annotated[
        float,
        recognition_option(
            min=0, max=0.99, help="The share of hidden neurons that are silent, anew in each step."
        ),
    ] = 0.0,
    class_weight: Annotated[
        ClassWeight, recognition_option(help="balanced: all classes weigh the same.")
    ] = ClassWeight.none,
    pretrain: Annotated[
        Path | None,
        recognition_option(
            metavar="MODEL",
            help="An autoencoder whose encoder is the first layers; the data are taken and scaled "
            "as it remembers.",
        ),
    ] = None,
    freeze: Annotated[
        bool, recognition_option("--freeze", help="These layers stay as they are.")
    ] = False,
    test: Annotated[
        str | None,
        recognition_option(
            metavar="DATA",
            help="Rows that are not trained on, of which the accuracy is told; data sets with test "
            "rows are tested on them.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train an autoencoder, or with --classify a classifier, on data, and write it to a file.

    Data may be the name of a data set ([bold]lrnn data list[/bold]), a table, another file of
    numbers or a folder of images; rows are samples. Large files are read block by block, and need
    not fit in memory; a moment ([bold]lrnn moment[/bold]) takes the place of rows. [bold]lrnn data
    describe[/bold] shows what a table holds, and the command for it. What becomes of its columns is
    remembered in the model, and done again by [bold]encode[/bold] and all others. A training that
    was killed goes on with
    [bold]--resume[/bold] from its last checkpoint, and ends as if nothing had happened.

    Examples:

        lrnn fit digits -o digits.safetensors --hidden 16

        lrnn fit wine.csv -o wine.safetensors --label class --drop 1

        lrnn fit patients.csv --index id --categories onehot --na '?' --missing allow

        lrnn fit train-images-idx3-ubyte.gz -o mnist.safetensors --hidden 1000-500-250-50

        lrnn fit faces/ -o faces.safetensors --hidden 50 --fine-tune 10 --checkpoint 300

        lrnn fit faces/ -o faces.safetensors --hidden 50 --fine-tune 10 --resume

        lrnn fit large.parquet -o large.safetensors --device cuda

        lrnn fit large.npy -o large.safetensors --workers 8

        lrnn fit moment.safetensors -o model.safetensors --hidden 16

        lrnn fit mnist -o mnist.safetensors --hidden 50 --inhibition --spike-penalty 1e-6

        lrnn fit mnist -o mnist.safetensors --hidden 50 --corruption mask 0.5

        lrnn fit wine.csv --classify --label class --hidden 20 -o wine-class.safetensors

        lrnn fit mnist --classify --spike-penalty 0.01 --label-smoothing 0.1 -o digits.safetensors

        lrnn fit few.csv --classify --label class --pretrain wine.safetensors --freeze
    """
    from lrnn import checkpoints
    from lrnn.estimators.autoencoder import LRNNAutoencoder
    from lrnn.rows.validation import check_data
    from lrnn.tables.ledger import Ledger
    from lrnn.tables.scaling import Scaling, attribute_count

    voice = Voice(quiet, as_json)
    check_corruption(corruption, solver)
    on_workers, ledger = dask is not None or workers is not None, Ledger()
    recognising = Recognising(label_smoothing, dropout, class_weight, pretrain, freeze, test)
    recognising.check(
        classify,
        {
            "--solver": solver is not Solver.gram,
            "--rates": rates is not Rates.free,
            "--stacking": stacking is not Stacking.layerwise,
            "--fine-tune": fine_tune > 0,
            "--workers": workers is not None,
            "--dask": dask is not None,
        },
    )
    place = ModelPlace.of(output, data, force, resume, pretrain, test)
    output, unfinished = place.output, place.unfinished
    if classify:
        parameters = {
            "spike_penalty": spike_penalty,
            "early_stopping": early_stopping,
            "corruption": corruption,
            "max_iter": max_iter,
            "tol": tol,
            "batch_size": batch_size,
            "device": device,
            "random_state": seed,
        }
        fit_classifier(data, options, recognising, hidden, parameters, place, checkpoint, voice)
        return
    max_iter = max_iter or STEPS
    moment = moment_in(data, options, on_workers=on_workers, resume=resume is not None)
    if moment is not None and corruption is not None and corruption[0] == "noise" and corruption[1]:
        raise typer.BadParameter(
            "noise needs the rows, and this is a moment, which is enough for mask only",
            param_hint="--corruption",
        )
    if moment is not None:
        check_no_rows_needed(
            solver=solver is Solver.minibatch,
            rates=rates is Rates.unit,
            fine_tune=fine_tune > 0,
            inhibition=inhibition,
            early_stopping=early_stopping,
        )
    if moment is None:
        taken = ToTrainOn.of(data, options, voice)
        scaling, ledger, attributes = taken.scaling, taken.table.ledger, taken.attributes
    else:
        scaling, count = moment.scaling or Scaling("none"), moment.n_rows
        attributes = attribute_count(scaling, moment.shape[1])
    sizes, behind = layer_sizes(hidden, attributes)
    model = LRNNAutoencoder(
        sizes,
        decoder_layer_sizes=behind,
        solver=cast(Any, solver.value),
        rates=cast(Any, rates.value),
        stacking=stacking.value,
        fine_tune=fine_tune,
        max_iter=max_iter,
        tol=tol,
        batch_size=batch_size,
        inhibition=inhibition,
        spike_penalty=spike_penalty,
        early_stopping=early_stopping,
        corruption=corruption,
        scale=scaling if moment is None else None,
        missing=options.of_model,
        device=device,
        random_state=seed,
        verbose=voice.verbose,
    )
    with place.alone(voice):
        if moment is not None:
            model.fit(moment)
        else:
            shared = cluster(dask, workers, voice) if on_workers else nullcontext()
            with shared as client, taken.explained():
                if client is None:
                    rows = check_data(model, taken.table, reset=True)
                else:
                    rows = on_cluster(data, model, taken.table, reset=True)
                count = rows.shape[0]
                if rows.resident:
                    rows.take(slice(1))  # unfit numbers are found before training begins
                with going_on(unfinished, voice):
                    checkpoints.fit(model, rows, unfinished, every=checkpoint, resume=bool(resume))
        interrupted = place.save(model)
    rule = hidden_rule(hidden, attributes)
    falling = tol > 0 and any(curve.still_falling for curve in model.history_)
    layers = model.weights_.sizes[: len(sizes) + 1] if behind is None else model.weights_.sizes
    voice.result(
        {
            "model": str(output),
            "rows": count,
            "attributes": attributes,
            "hidden": list(sizes),
            "behind": None if behind is None else list(behind),
            "hidden_rule": rule,
            "scale": scaling.kind,
            "complemented": scaling.complemented,
            "error": model.reconstruction_err_,
            "corrupted_error": model.corrupted_err_,
            "error_is_bound": model.error_is_bound_,
            "spike_cost": model.spike_cost_,
            "converged": None if tol == 0 else not (falling or interrupted),
            "interrupted": interrupted,
            **tell(ledger, voice),
        },
        f"{count} rows, {' → '.join(map(str, layers))} neurons: mean squared error "
        f"{bound_note(model)}{decimal(model.reconstruction_err_)}{from_corrupted(model)}"
        f"{spikes_note(model)}\n"
        f"{hidden_note(rule, sizes)}{wide_note(sizes, attributes)}"
        f"{scale_note(options.scale, scaling) if moment is None else ''}written to {output}",
    )
    if interrupted:
        say_how_to_go_on(unfinished, voice)
    elif falling:
        made = f"{max_iter} {'steps' if solver is Solver.gram else 'passes'}"
        voice.note(
            f"the error was still falling after {made}, by more than {tol:g} in the last ten; give "
            f"--max-iter {5 * max_iter} for a lower one, or a higher --tol to be content with it"
        )


def check_corruption(given: tuple[str, float] | None, solver: Solver) -> None:
    """Complain of a corruption that cannot be, in the words of the command line."""
    from lrnn.moments.corruption import KINDS, check_level

    if given is None:
        return
    kind, level = given
    text = f"{kind} {level:g}"
    if kind not in KINDS:
        raise typer.BadParameter(
            f"{text!r}: the kind must be {' or '.join(KINDS)}", param_hint="--corruption"
        )
    if solver == Solver.minibatch:
        raise typer.BadParameter(
            f"{text!r} needs --solver gram: the paper's algorithms give back what they are given",
            param_hint="--corruption",
        )
    try:
        check_level(cast(Any, kind), level, repr(text))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--corruption") from None


def from_corrupted(model: Any) -> str:
    """What is said of a model that learnt from corrupted rows, after its error."""
    if model.corrupted_err_ is None:
        return ""
    kind, level = model.corruption
    return f", {decimal(model.corrupted_err_)} from corrupted rows ({kind} {level:g})"


def spikes_note(model: Any) -> str:
    """What a network with inhibition costs, said after its error."""
    from lrnn.analysis.frontiers import readable

    return f"; {readable(model.spike_cost_)} spikes per unit time" if model.inhibition else ""
