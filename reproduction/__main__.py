"""Run experiments by name, and write their tables, figures and page: ``python -m reproduction``."""

import argparse
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from reproduction.experiments import Task, chosen_tasks, known_names
from reproduction.report import FILES, write_reproduction
from reproduction.runner import run_tasks

INTERRUPTED = 130  # as shells have it
ABOUT = """\
Run the experiments of Yin & Gelenbe (2016) again, beside lrnn's own solver.

Names are all (the paper's: an hour and a half on two cores), data sets, structures such as
mnist-100, figures such as figure2a and figure4; and, not part of all:
  inhibition    networks with and without inhibition on damaged images (half an hour)
  stalled       the printed algorithms until the error falls no more (minutes on a GPU, or hours)
  classifiers   LRNNClassifier beside those of scikit-learn; classifiers-wine is one of them
Without a name all names are listed. Finished experiments are not run again.
The data sets are needed: lrnn data fetch all."""


def main(words: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl-C."""
    parser = argparse.ArgumentParser(
        "python -m reproduction",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what is run")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("reproduction-results"), metavar="DIR",
        help="folder of results, tables, figures and the page (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", type=int, default=3, help="of small experiments; large ones have one (default 3)"
    )
    parser.add_argument("--device", help="where stalled and classifiers train: cpu or cuda")
    parser.add_argument(
        "--quick", action="store_true", help="on cut-down data, in minutes: only to see it run"
    )
    chosen = parser.parse_args(words)
    if not chosen.names:
        print(f"{parser.format_usage()}\nall, {', '.join(known_names())}")
        return 0
    if chosen.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {chosen.seeds}")
    alone = any(n == "stalled" or n.startswith("classifiers") for n in chosen.names)
    if chosen.device is not None and not alone:
        parser.error("--device: only stalled and classifiers are trained on it")
    warnings.filterwarnings("ignore", "the error was still falling")  # each has its own length
    try:
        tasks = chosen_tasks(chosen.names, chosen.seeds, chosen.quick)
        _check_folder(chosen.output)
        results = run_tasks(tasks, chosen.output, _progress(len(tasks)), chosen.device)
    except KeyboardInterrupt:
        print(f"finished results are in {chosen.output}: the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    given = sys.argv[1:] if words is None else words
    command = shlex.join(["python", "-m", "reproduction", *given])
    print(write_reproduction(results, chosen.output, command))
    return 0


def _check_folder(folder: Path) -> None:
    """Refuse to write over files that are not of an earlier run."""
    if (folder / "summary.json").exists() or (folder / "results").exists():
        return
    for name in FILES:
        if (folder / name).exists():
            raise FileExistsError(f"{str(folder / name)!r} exists; give another folder by -o")


def _progress(count: int) -> Callable[[int, Task | None], None]:
    def progress(done: int, task: Task | None) -> None:
        if task is not None:
            print(f"{done + 1}/{count} {task.name}", file=sys.stderr)

    return progress


if __name__ == "__main__":
    sys.exit(main())
