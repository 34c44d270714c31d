"""What a command must survive: kills, full disks, folders it may not write to, its own twin."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import lrnn
from lrnn import LRNNAutoencoder
from naming import naming

LRNN = Path(sys.executable).with_name("lrnn")
DEATHS = 24


def run(*arguments, cwd):
    return subprocess.run(
        [LRNN, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "digits.npy", load_digits().data / 16)
    return tmp_path


# It imports all that the command needs once, and then lets children run it and die.
MURDERER = """
    import os, random, signal, sys, time
    import lrnn.storage.checkpoints, lrnn.datasets, lrnn.tables.scaling
    from lrnn.cli import main

    random.seed(5)
    deaths, arguments = 0, sys.argv[2:]
    def begun():  # on a busy machine it takes longer
        return os.path.exists("a.safetensors.checkpoint") or deaths >= 10 * int(sys.argv[1])

    while deaths < int(sys.argv[1]) or not begun():
        child = os.fork()
        if child == 0:
            sys.argv = ["lrnn", *arguments]
            main()
            os._exit(0)
        time.sleep(random.uniform(0.02, 0.45) * max(1, deaths / int(sys.argv[1])))
        os.kill(child, signal.SIGKILL)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        deaths += ended == -signal.SIGKILL
        print(ended, flush=True)
        if ended == 1:
            sys.exit(1)
"""


@pytest.mark.slow
def test_killed_at_random_moments_a_training_goes_on_and_ends_the_same(folder):
    X = np.load(folder / "digits.npy")
    settings = {"max_iter": 150, "fine_tune": 600, "tol": 0, "random_state": 0}
    old = LRNNAutoencoder((3,), max_iter=2, random_state=1).fit(X)
    old.save(folder / "a.safetensors")
    before = (folder / "a.safetensors").read_bytes()
    command = ["fit", "digits.npy", "-o", "a.safetensors", "--hidden", "40", "--max-iter", "150",
               "--fine-tune", "600", "--tol", "0", "--checkpoint", "0.05", "--resume",
               "--force", "--quiet"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MURDERER), str(DEATHS), *command],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    ends = [int(line) for line in done.stdout.split()]
    assert ends.count(-signal.SIGKILL) >= DEATHS
    assert set(ends) == {-signal.SIGKILL}  # none has failed: there was no damaged file
    assert (folder / "a.safetensors").read_bytes() == before  # nor has one touched the old model
    assert (folder / "a.safetensors.checkpoint").exists()
    assert run(*command, cwd=folder).returncode == 0
    assert sorted(p.name for p in folder.iterdir()) == ["a.safetensors", "digits.npy"]

    undisturbed = LRNNAutoencoder((40,), **settings).fit(X)
    found = lrnn.load(folder / "a.safetensors")
    for ours, theirs in zip(
        undisturbed.encoders_ + undisturbed.decoders_,
        found.encoders_ + found.decoders_,
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_a_checkpoint_is_not_overwritten_unasked(folder):
    command = ["fit", "digits.npy", "-o", "a.safetensors", "--hidden", "5", "--max-iter", "9"]
    (folder / "a.safetensors.checkpoint").write_text("hours of work")
    done = run(*command, cwd=folder)
    assert done.returncode == 1
    assert re.search(naming("a.safetensors.checkpoint", "--resume", "--restart"), done.stderr)
    done = run(*command, "--resume", cwd=folder)
    assert done.returncode == 1
    assert "'a.safetensors.checkpoint'" in done.stderr
    assert (folder / "a.safetensors.checkpoint").read_text() == "hours of work"
    assert not (folder / "a.safetensors").exists()
    assert run(*command, "--restart", cwd=folder).returncode == 0
    assert sorted(p.name for p in folder.iterdir()) == ["a.safetensors", "digits.npy"]
    done = run(*command, "--resume", cwd=folder)
    assert done.returncode == 1
    assert re.search(naming("'a.safetensors'", "--force"), done.stderr)
    done = run(*command, "--resume", "--force", cwd=folder)
    assert done.returncode == 0  # without one it just begins, and says so
    assert "'a.safetensors.checkpoint'" in done.stderr


def start(*arguments, cwd, until):
    """Start a command and wait until a file is there."""
    process = subprocess.Popen(
        [LRNN, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    for _ in range(600):
        if (cwd / until).exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()
    return process


LONG = ["fit", "digits.npy", "-o", "a.safetensors", "--hidden", "40", "--max-iter", "100000",
        "--tol", "0", "--checkpoint", "0.2"]  # fmt: skip


@pytest.mark.slow
def test_two_processes_do_not_write_the_same_model(folder):
    first = start(*LONG, cwd=folder, until="a.safetensors.checkpoint")
    second = run(*LONG, "--resume", cwd=folder)
    assert second.returncode == 1
    assert "'a.safetensors'" in second.stderr
    first.send_signal(signal.SIGINT)
    _, said = first.communicate(timeout=60)
    assert first.returncode == 130, said
    assert "--resume" in said
    assert lrnn.load(folder / "a.safetensors").history_[-1].stopped == "interrupted"
    # what was interrupted can be gone on with
    assert (folder / "a.safetensors.checkpoint").exists()
    again = start(*LONG, "--resume", cwd=folder, until=".a.safetensors.lock")
    again.kill()
    again.communicate()
    assert run("inspect", "a.safetensors", cwd=folder).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_an_interruption_in_the_first_minute_keeps_a_checkpoint(folder, sent, status):
    command = [*LONG[:-2], "--quiet"]
    process = start(*command, cwd=folder, until=".a.safetensors.lock")
    time.sleep(2)
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)
    assert process.returncode == status, said
    assert (folder / "a.safetensors.checkpoint").exists()
    np.save(folder / "digits.npy", np.load(folder / "digits.npy")[1:])
    done = run(*command, "--resume", cwd=folder)
    assert re.search(naming("'a.safetensors.checkpoint'", "data"), done.stderr)


@contextmanager
def mounted(folder, options):
    """A small file system of its own."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        mount = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"there is no mount command: {error}")
    if mount.returncode:
        pytest.skip(f"this user may not mount a file system: {mount.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk(folder):
    fit = ["fit", folder / "digits.npy", "--hidden", "40", "--max-iter", "30"]
    with mounted(folder / "small", "size=96k") as small:
        LRNNAutoencoder((2,), max_iter=2).fit(load_digits().data / 16).save(small / "a.safetensors")
        before = (small / "a.safetensors").read_bytes()
        (small / "filler").write_bytes(bytes(60_000))
        done = run(*fit, "-o", "a.safetensors", "--checkpoint", "0", "--force", cwd=small)
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        assert (small / "a.safetensors").read_bytes() == before
        assert sorted(p.name for p in small.iterdir()) == ["a.safetensors", "filler"]
        # and yet nothing is lost
        paths = set(map(Path, re.findall("'(/[^']*)'", done.stderr)))
        (rescued,) = (path for path in paths if path.is_file())
        assert lrnn.load(rescued).components_.shape == (40, 64)
        rescued.unlink()

        for command in (
            ["encode", "a.safetensors", folder / "digits.npy", "-o", "codes.csv"],
            ["reconstruct", "a.safetensors", folder / "digits.npy", "-o", "back.npy"],
            ["reconstruct", "a.safetensors", folder / "digits.npy", "-o", "back.parquet"],
            *(
                [["encode", "a.safetensors", folder / "digits.npy", "-o", "codes.zarr"]]
                if find_spec("zarr")
                else []
            ),
            ["report", "a.safetensors", folder / "digits.npy", "-o", "."],
        ):
            done = run(*command, cwd=small)
            assert done.returncode == 1
            assert "No space left on device" in done.stderr
            assert "Traceback" not in done.stderr
        assert sorted(p.name for p in small.iterdir()) == ["a.safetensors", "filler"]


@pytest.mark.slow
def test_a_read_only_folder(folder):
    with mounted(folder / "fixed", "size=1m,ro") as fixed:
        for command in (
            ["fit", folder / "digits.npy", "-o", fixed / "a.safetensors", "--max-iter", "2"],
            ["demo", "-o", fixed / "demo"],
        ):
            done = run(*command, cwd=folder)
            assert done.returncode == 1
            assert "Read-only file system: '" in done.stderr
            assert "━" not in done.stderr  # no bar: it was noticed before the work
            assert "Traceback" not in done.stderr
