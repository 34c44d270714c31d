"""How many of 200 small changes to the code make a test fail.

    pip install '.[test]' cosmic-ray
    python .ci/mutants.py [COMMIT] [--count 200] [--seed 0] [--skip 0] [--at-once 2]

Places are drawn evenly from the rooms below, at each place one change (another operator, another
number, a loop that ends, …). The tests of that room run in a clone of COMMIT until one fails, first
those of the changed module's name, then the quickest. Lines of output, as they come: the number of
the change, what became of it and by which test, where it was made, what was changed. Hours on 2
cores: a run that was stopped goes on with --skip and the number of changes that it has tried.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from xml.etree import ElementTree

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
PATIENCE = 60, 5  # seconds, and times that tests took without a change, after which they failed
WARNING = "ignore:invalid value encountered in matmul:RuntimeWarning"  # chance: see pyproject.toml


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


def settle(origin: Path, commit: str, folder: str) -> None:
    """To a clone that this process has for itself."""
    clone = Path(folder, str(os.getpid()))
    subprocess.run(["git", "clone", "-q", origin, clone], check=True)
    subprocess.run(["git", "checkout", "-q", commit], cwd=clone, check=True)
    os.chdir(clone)


def command(tests: list[str]) -> list[str]:
    """Those tests, of this very clone."""
    return [
        *("env", f"PYTHONPATH={Path.cwd() / 'src'}", sys.executable, "-m", "pytest", "-x", "-q"),
        *("-p", "no:cacheprovider", "-W", WARNING, *tests),
    ]


def unchanged(tests: str) -> tuple[float, list[str]]:
    """Seconds that tests take without a change, and their files, the quickest first."""
    start, took = time.monotonic(), dict[str, float]()
    report = Path("report.xml").absolute()
    subprocess.run(
        [*command(tests.split()), f"--junitxml={report}"], check=True, stdout=subprocess.DEVNULL
    )
    for case in ElementTree.parse(report).iter("testcase"):
        room, folder, file, *_ = case.attrib["classname"].split(".")
        path = f"{room}/{folder}/{file}.py"
        took[path] = took.get(path, 0.0) + float(case.attrib["time"])
    return time.monotonic() - start, sorted(took, key=lambda path: took[path])


def tried(change: MutationSpec, seconds: float, tests: list[str]) -> tuple[str, list[str]]:
    """What became of a change, and what it was."""
    words = set(Path(change.module_path).stem.split("_"))
    tests = sorted(tests, key=lambda path: not words & set(Path(path).stem.split("_")))
    least, times = PATIENCE
    line = " ".join(map(repr, command(tests)))
    result = mutate_and_test([change], line, least + times * seconds)
    outcome = (result.test_outcome or result.worker_outcome).value
    if result.output == "timeout":
        outcome += " by the clock"
    elif failed := re.search(r"^_{3,} (.+?) _{3,}$", result.output or "", re.MULTILINE):
        outcome += f" by {failed[1]}"
    return outcome, [
        line
        for line in (result.diff or "").splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]


def main() -> None:
    """Draw, try, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    found: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(
            given.at_once, None, settle, (Path.cwd(), given.commit, folder)
        ) as pool,
    ):
        changes = list(enumerate(pool.submit(drawn, given.count, given.seed).result()))[
            given.skip :
        ]
        rooms = {tests for _, (_, tests) in changes}
        known = dict(zip(rooms, pool.map(unchanged, rooms), strict=True))
        trials = {
            pool.submit(tried, change, *known[tests]): (number, change)
            for number, (change, tests) in changes
        }
        for trial in as_completed(trials):
            (number, change), (outcome, lines) = trials[trial], trial.result()
            place = f"{change.module_path}:{change.start_pos[0]}"
            print(f"{number} {outcome}", place, *lines, sep="\n  ", flush=True)
            found[outcome.split()[0]] += 1
    print(dict(found))


if __name__ == "__main__":
    main()
