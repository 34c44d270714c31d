"""All benchmarks of this folder that need no GPU, one after the other, on a quiet machine.

    LRNN_DATA_DIR=... python benchmarks/everything.py [--minutes 170] [--only live.py small.py …]
    LRNN_DATA_DIR=... python benchmarks/everything.py --kind errors
    python benchmarks/everything.py --list

Those whose results are of an older version of lrnn, or of none, come first; then those that were
measured longest ago. --kind timed are those that measure time or memory; --kind errors the others,
which may run beside other work: it changes their seconds alone. Each is a process of its own and
writes its results as if called by hand; what it prints goes to benchmarks/results/logs (not kept in
the repository). With --minutes none is begun that took longer than what is left of them, when last
it was measured. How long each took is in results/everything.json.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from common import RESULTS, WIDTHS, Stopwatch, console, known, report

HERE = Path(__file__).parent
TABULAR = sorted(WIDTHS.keys() - {"mnist", "cifar10"})
LOGS = RESULTS / "logs"
CORPUS = HERE / "corpus"


class Benchmark(NamedTuple):
    """One call: which results it writes, by how many threads, and whether it measures time."""

    results: tuple[str, ...] = ()
    threads: int | None = None  # as many as there are cores
    timed: bool = True


def timed(*results: str, threads: int | None = None) -> Benchmark:
    """A benchmark of time or memory: nothing else may run beside it."""
    return Benchmark(results, threads)


def errors(*results: str) -> Benchmark:
    """A benchmark of errors, accuracies, spikes: what runs beside it changes its seconds alone."""
    return Benchmark(results, threads=1, timed=False)


ALL = {
    "live.py": timed("live"),
    "small.py": timed("small", threads=1),
    "gram_solver.py": timed("gram_solver_100"),
    "gram_solver.py --hidden 50": timed("gram_solver_50"),
    "encoding.py": timed("encoding"),
    "memory.py": timed("memory"),
    "growth.py": timed("growth"),
    "busy.py": timed("busy"),
    "sharpening.py --all": errors("sharpening"),
    "starts.py": errors("starts_unmixing", "starts_order"),
    "codes.py": timed("codes", "factors", threads=1),
    "widths.py --mnist": errors("widths", "widths_mnist"),
    "moments.py": timed("moments", threads=1),
    "streams.py": timed(
        "streams_tables", "streams_images", "streams_drift", "streams_text", threads=1
    ),
    "streaming.py": timed("streaming"),
    "text_tables.py": timed("text_tables"),
    "minibatch_streams.py": timed("minibatch_streams", "minibatch_streams_sorted", threads=1),
    "scaling.py": timed("scaling", "scaling_predictions"),
    "missing.py": timed("missing", "missing_seconds", threads=1),
    "missing.py --codes": errors("missing_codes"),
    "missing.py --ratings": errors("missing_ratings"),
    "robustness.py": errors("robustness"),
    "robustness.py --small": errors("robustness_small"),
    "printed_algorithm.py": errors("printed_algorithm"),
    "unit_rates.py": errors("unit_rates"),
    "saturation.py": errors("saturation"),
    "lowest_errors.py": errors("lowest_errors"),
    "inhibition.py --what shallow": errors("inhibition_cpu"),
    "inhibition.py --what deep cifar --single 1": errors("inhibition_cpu"),
    f"inhibition_everywhere.py {' '.join(TABULAR)}": errors("inhibition_everywhere"),
    "depth.py --what quick --passes 10": errors("depth_cpu"),
    "depth.py --look": errors("depth_look"),
    "recognition.py --digits": errors("recognition_digits"),
    "recognition.py --quick": errors("recognition_quick"),
    "raw_tables.py": errors("raw_tables"),
    "raw_tables.py --autoencoders": errors("raw_tables_autoencoders"),
    "few_labels.py": errors("few_labels"),
    "detection.py": errors("detection"),
    "detection.py --others": errors("detection_others"),
    "detection.py --unsupervised": errors("detection_unsupervised"),
    "detection.py --seconds": timed("detection_seconds", threads=1),
    "decisions.py --figure docs/images/accuracy-by-events.png": errors(
        "decisions", "decisions_stopping"
    ),
    "side_by_side.py fit": timed("side_by_side_fit"),
    "side_by_side.py encode": timed("side_by_side_encode"),
    "side_by_side.py scale": timed("side_by_side_scale"),
    "side_by_side.py simulate": timed("side_by_side_simulate"),
    "simulation.py": timed("simulation", threads=1),
    "spiking_convergence.py": errors("spiking_convergence"),
    "intervals.py": errors("intervals", "intervals_summary"),
    "engines.py": timed("engines", threads=1),
    "brightness.py": timed("brightness"),
    "partitioned.py": timed("partitioned", threads=1),
    "threads.py": timed(f"threads_{os.cpu_count()}"),
    "early_ends.py": errors("early_ends"),
    "steady_state.py": timed("steady_state", threads=1),
    f"corpus.py {CORPUS}": timed(),
    f"sparse_text.py {CORPUS}/manual.npz --memory": timed("sparse_text_manual"),
    f"sparse_text.py {CORPUS}/python.npz --memory": timed("sparse_text_python"),
    f"sparse_text.py {CORPUS}/bible.npz --memory": timed("sparse_text_bible"),
    f"sparse_text.py {CORPUS}/synthetic.npz --rounds 1": timed("sparse_text_synthetic"),
    f"sparse_text.py {CORPUS} --widths": timed("sparse_text_widths", threads=1),
    "sparse_text.py --growth": timed("sparse_growth"),
    "sparse_data.py": timed("sparse_data"),
    "sparse_fill.py": timed("sparse_fill"),
    f"sketches.py {CORPUS}/manual.npz": timed("sketches_manual"),
    "sketches.py --images": timed("sketches_images", threads=1),
    "sketches.py --matrix": timed("sketches_matrix", threads=1),
}


def name_of(call: str) -> str:
    """As it is told: without where this folder is."""
    return call.replace(str(HERE) + "/", "")


def of_today(call: str) -> bool:
    """Whether its results are of this version of lrnn."""
    import lrnn

    return bool(ALL[call].results) and all(
        document.get("versions", {}).get("lrnn") == lrnn.__version__
        for document in map(stored, ALL[call].results)
    )


def stored(name: str) -> dict[str, Any]:
    """A file of results; an empty one if there is none."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def run(call: str) -> dict[str, Any]:
    """Call one, and tell how long it took and how it ended."""
    LOGS.mkdir(parents=True, exist_ok=True)
    script, *words = call.split()
    log = LOGS / ("-".join(Path(word).stem.lstrip("-") for word in (script, *words)) + ".txt")
    surroundings = dict(os.environ)
    if ALL[call].threads:
        surroundings["OMP_NUM_THREADS"] = str(ALL[call].threads)
    with log.open("w") as file, Stopwatch() as watch:
        done = subprocess.run(
            [sys.executable, str(HERE / script), *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=HERE.parent,
            env=surroundings,
        )
    return {"what": name_of(call), "minutes": watch.seconds / 60, "status": done.returncode}


def took() -> dict[str, dict[str, Any]]:
    """How long each took when it was last run, by this process or another one."""
    return {row["what"]: row for row in known("everything")}


def main() -> None:
    """Run them, the stalest first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", nargs="+", default=[], help="scripts, or whole calls")
    parser.add_argument("--kind", choices=("all", "timed", "errors"), default="all")
    parser.add_argument("--list", action="store_true", help="only tell what would be run")
    wanted = parser.parse_args()
    calls = [c for c in ALL if wanted.kind in ("all", "timed" if ALL[c].timed else "errors")]
    if wanted.only:
        calls = [c for c in calls if {c.split()[0], name_of(c)} & set(wanted.only)]
    calls.sort(key=of_today)  # and else in the order above: those of a corpus come after it
    left = 60 * wanted.minutes
    for call in calls:
        before = took().get(name_of(call), {})
        if wanted.list or 60 * before.get("minutes", 0) > left:
            console.print(f"{name_of(call)}: {before.get('minutes', float('nan')):.1f} minutes")
            continue
        console.print(f"{name_of(call)} …")
        row = run(call)
        left -= 60 * row["minutes"]
        rows = took() | {name_of(call): row}
        report("everything", "How long each benchmark takes", list(rows.values()))
        if left <= 0:
            break


if __name__ == "__main__":
    main()
