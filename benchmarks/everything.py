"""All benchmarks of this folder that need no GPU, one after the other, on a quiet machine.

    LRNN_DATA_DIR=... python benchmarks/everything.py [--minutes 170] [--only live.py small.py …]
    python benchmarks/everything.py --list

Those whose results are of an older version of lrnn, or of none, come first; then those that were
measured longest ago. Each is a process of its own and writes its results as if called by hand; what
it prints goes to benchmarks/results/logs (not kept in the repository). With --minutes none is begun
that took longer than what is left of them, when last it was measured. How long each took is in
results/everything.json.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from common import RESULTS, Stopwatch, console, known, report

HERE = Path(__file__).parent
LOGS = RESULTS / "logs"
CORPUS = HERE / "corpus"
ALL: dict[str, tuple[str, ...]] = {  # what is called, and which results it writes
    "live.py": ("live",),
    "small.py": ("small",),
    "gram_solver.py": ("gram_solver_100",),
    "gram_solver.py --hidden 50": ("gram_solver_50",),
    "encoding.py": ("encoding",),
    "memory.py": ("memory",),
    "growth.py": ("growth",),
    "busy.py": ("busy",),
    "sharpening.py --all": ("sharpening",),
    "starts.py": ("starts_unmixing", "starts_order"),
    "codes.py": ("codes", "factors"),
    "widths.py --mnist": ("widths", "widths_mnist"),
    "moments.py": ("moments",),
    "streams.py": ("streams_tables", "streams_images", "streams_drift", "streams_text"),
    "streaming.py": ("streaming",),
    "minibatch_streams.py": ("minibatch_streams", "minibatch_streams_sorted"),
    "scaling.py": ("scaling", "scaling_predictions"),
    "missing.py": ("missing", "missing_seconds"),
    "missing.py --codes": ("missing_codes",),
    "missing.py --ratings": ("missing_ratings",),
    "robustness.py": ("robustness",),
    "robustness.py --small": ("robustness_small",),
    "printed_algorithm.py": (),
    "unit_rates.py": ("unit_rates",),
    "saturation.py": ("saturation",),
    "lowest_errors.py": ("lowest_errors",),
    "inhibition.py": ("inhibition_cpu",),
    "inhibition_everywhere.py": ("inhibition_everywhere",),
    "depth.py --what quick --passes 10": ("depth_cpu",),
    "depth.py --look": ("depth_look",),
    "recognition.py --digits": ("recognition_digits",),
    "recognition.py --quick": ("recognition_quick",),
    "raw_tables.py": ("raw_tables",),
    "raw_tables.py --autoencoders": ("raw_tables_autoencoders",),
    "few_labels.py": ("few_labels",),
    "detection.py": ("detection",),
    "detection.py --others": ("detection_others",),
    "detection.py --unsupervised": ("detection_unsupervised",),
    "detection.py --seconds": ("detection_seconds",),
    "decisions.py": ("decisions", "decisions_stopping"),
    "simulation.py": ("simulation",),
    "spiking_convergence.py": ("spiking_convergence",),
    "engines.py": ("engines",),
    "brightness.py": ("brightness",),
    "partitioned.py": ("partitioned",),
    "early_ends.py": (),
    "steady_state.py": (),
    f"corpus.py {CORPUS}": (),
    f"sparse_text.py {CORPUS}/manual.npz --memory": ("sparse_text_manual",),
    f"sparse_text.py {CORPUS}/python.npz --memory": ("sparse_text_python",),
    f"sparse_text.py {CORPUS}/bible.npz --memory": ("sparse_text_bible",),
    f"sparse_text.py {CORPUS}/synthetic.npz --rounds 1": ("sparse_text_synthetic",),
    "sparse_text.py --growth": ("sparse_growth",),
    "sparse_data.py": ("sparse_data",),
    f"sketches.py {CORPUS}/manual.npz": ("sketches_manual",),
    "sketches.py --images": ("sketches_images",),
    "sketches.py --matrix": ("sketches_matrix",),
}


def name_of(call: str) -> str:
    """As it is told: without where this folder is."""
    return call.replace(str(HERE) + "/", "")


def of_today(call: str) -> bool:
    """Whether its results are of this version of lrnn."""
    import lrnn

    return bool(ALL[call]) and all(
        document.get("versions", {}).get("lrnn") == lrnn.__version__
        for document in map(stored, ALL[call])
    )


def stored(name: str) -> dict[str, object]:
    """A file of results; an empty one if there is none."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def run(call: str) -> dict[str, object]:
    """Call one, and tell how long it took and how it ended."""
    LOGS.mkdir(parents=True, exist_ok=True)
    script, *words = call.split()
    log = LOGS / ("-".join(Path(word).stem.lstrip("-") for word in (script, *words)) + ".txt")
    with log.open("w") as file, Stopwatch() as watch:
        done = subprocess.run(
            [sys.executable, str(HERE / script), *words],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=HERE.parent,
        )
    return {"what": name_of(call), "minutes": watch.seconds / 60, "status": done.returncode}


def main() -> None:
    """Run them, the stalest first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", nargs="+", default=[], help="scripts, such as live.py")
    parser.add_argument("--list", action="store_true", help="only tell what would be run")
    wanted = parser.parse_args()
    took = {row["what"]: row for row in known("everything")}
    calls = [c for c in ALL if not wanted.only or c.split()[0] in wanted.only]
    calls.sort(key=of_today)  # and else in the order above: those of a corpus come after it
    left = 60 * wanted.minutes
    for call in calls:
        before = took.get(name_of(call), {})
        if wanted.list or 60 * before.get("minutes", 0) > left:
            console.print(f"{name_of(call)}: {before.get('minutes', float('nan')):.1f} minutes")
            continue
        console.print(f"{name_of(call)} …")
        row = run(call)
        took[name_of(call)] = row
        left -= 60 * row["minutes"]
        report("everything", "How long each benchmark takes", list(took.values()))
        if left <= 0:
            break


if __name__ == "__main__":
    main()
