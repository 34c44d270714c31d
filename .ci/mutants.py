"""How many of 200 small changes to the code make a test fail.

    pip install '.[test]' cosmic-ray
    python .ci/mutants.py [COMMIT] [--count 200] [--seed 0] [--skip 0]

Places are drawn evenly from the rooms below, at each place one change (another operator, another
number, a loop that ends, …). The tests of that room run in a clone of COMMIT until one fails. Lines
of output: what became of the change, where it was made, what was changed. Hours on 2 cores: a run
that was stopped goes on with --skip and the number of changes that it has tried.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import chdir
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec

ROOMS = {  # what is changed, and the tests of it
    "functional/*.py": "tests/functional",
    "moments/*.py": "tests/moments",
    "network/*.py": "tests/network",
    "spiking/estimators.py": "tests/spiking tests/theory/test_intervals.py",
    "spiking/uncertainty.py": "tests/spiking tests/theory/test_intervals.py",
    "storage/*.py": "tests/storage",
}
LEFT_OUT = ("BitOr", "RemoveDecorator")  # of type hints; of properties and of compiled functions
PATIENCE = 900  # seconds after which tests count as failed


def drawn(count: int, seed: int) -> list[tuple[MutationSpec, str]]:
    """Changes, and the tests that should notice."""
    places = defaultdict(list)
    for pattern, tests in ROOMS.items():
        files = [path for path in sorted(Path("src/lrnn").glob(pattern)) if "cuda" not in path.name]
        with use_db("mutants.sqlite", WorkDB.Mode.create) as database:
            init(files, database, {})
            for item in database.work_items:
                (change,) = item.mutations
                if not any(word in change.operator_name for word in LEFT_OUT):
                    places[change.module_path, change.start_pos].append((change, tests))
    chance = random.Random(seed)
    chosen = chance.sample(sorted(places), count)
    return [
        chance.choice(sorted(places[at], key=lambda found: found[0].operator_name)) for at in chosen
    ]


def main() -> None:
    """Draw, try, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0)
    given = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", ".", folder], check=True)
        subprocess.run(["git", "checkout", "-q", given.commit], cwd=folder, check=True)
        with chdir(folder):
            for change, tests in drawn(given.count, given.seed)[given.skip :]:
                command = f"env PYTHONPATH=src {sys.executable} -m pytest -x -q -n 2 {tests}"
                result = mutate_and_test([change], command, PATIENCE)
                outcome = str(result.test_outcome or result.worker_outcome)
                found[outcome] += 1
                lines = [
                    line
                    for line in (result.diff or "").splitlines()
                    if line[:1] in "+-" and line[:3] not in ("+++", "---")
                ]
                print(outcome, f"{change.module_path}:{change.start_pos[0]}", *lines, sep="\n  ")
                sys.stdout.flush()
    print(dict(found))


if __name__ == "__main__":
    main()
