"""Files are written whole or not at all, are on the disk then, and nothing is left beside them."""

import errno
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import filelock
import numpy as np
import pytest

from lrnn.tables.atomic import in_place, remove, write_atomically
from lrnn.tables.images import write_images
from lrnn.tables.writers import WRITERS, write, write_arrays
from naming import naming

DATA = np.arange(12.0).reshape(4, 3)
WAYS = {
    **{suffix: (f"a{suffix}", lambda path: write(path, DATA)) for suffix in WRITERS},
    "arrays": ("a.npz", lambda path: write_arrays(path, {"data": DATA})),
    "bytes": ("a.safetensors", lambda path: write_atomically(path, b"content")),
    "images": ("a", lambda path: write_images(path, np.zeros((2, 3, 3), np.uint8), [0, 1])),
}


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=WAYS)
def writing(request, tmp_path):
    """A name, and what writes to it."""
    if request.param == ".zarr":
        pytest.importorskip("zarr", reason="pip install 'lrnn[files]'")
    name, write_to = WAYS[request.param]
    return tmp_path / name, write_to


def test_all_of_it_is_on_the_disk_before_it_has_its_name(writing, monkeypatch):
    path, write_to = writing
    synced = set()

    def fsync(handle, real=os.fsync):
        synced.add(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write_to(path)
    written = [path.parent, path, *path.rglob("*")]
    assert {p.stat().st_ino for p in written} <= synced


def test_the_mode_is_kept_and_that_of_new_files_is_usual(writing, monkeypatch):
    path, write_to = writing
    usual = path.parent / "usual"
    usual.touch()
    expected = mode_of(usual)

    def refused(mask):
        raise AssertionError("other threads write files, too")

    monkeypatch.setattr(os, "umask", refused)
    write_to(path)
    if path.is_file():
        assert mode_of(path) == expected
    path.chmod(0o700 if path.is_dir() else 0o600)
    write_to(path)
    assert mode_of(path) == (0o700 if path.is_dir() else 0o600)


def test_what_killed_writers_left_is_swept_away_and_nothing_else(writing):
    path, write_to = writing
    folder = path.parent
    (folder / f".{path.name}.abcd_124.tmp").mkdir()
    (folder / f".{path.name}.abcd_124.tmp" / path.name).write_bytes(b"half of it")
    others = {f".{path.name}.tmp", f".b{path.name}.abcd_123.tmp", f".{path.name}.b.abcd_123.tmp"}
    for name in others:
        (folder / name).touch()
    with in_place(path) as unfinished:  # somebody is at work
        unfinished.write_bytes(b"half of it")
        write_to(path)
        assert unfinished.exists()
        write_to(path)
        assert unfinished.exists()
        unfinished.unlink()
        write_to(unfinished)
    assert {p.name for p in folder.iterdir()} == others | {path.name}


KILLED = """
import os, signal
from pathlib import Path
from lrnn.tables.atomic import in_place
with in_place(Path({path!r})) as unfinished:
    unfinished.write_bytes(b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_writer_that_is_killed_leaves_nothing_for_good(tmp_path):
    path = tmp_path / "m.safetensors"
    for tidy in (lambda: write_atomically(path, b"new"), lambda: remove(path)):
        path.write_bytes(b"old")
        done = subprocess.run([sys.executable, "-c", KILLED.format(path=str(path))])
        assert done.returncode == -signal.SIGKILL
        assert path.read_bytes() == b"old"
        assert len(list(tmp_path.iterdir())) == 2
        tidy()
        assert list(tmp_path.iterdir()) in ([path], [])


def test_writers_of_one_file_at_the_same_time(tmp_path):
    path = tmp_path / "a.bin"

    def writer(number):
        for _ in range(10):
            write_atomically(path, bytes([number]) * 10_000)
            assert len(set(path.read_bytes())) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(writer, range(4)))
    assert len(path.read_bytes()) == 10_000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(errno.ENOLCK, "none"), NotImplementedError("none")])
def test_where_there_are_no_locks_nothing_is_swept_away(tmp_path, monkeypatch, error):
    def refused(self, *arguments, **options):
        raise error

    monkeypatch.setattr(filelock.BaseFileLock, "acquire", refused)
    leftover = tmp_path / ".a.bin.abcd_123.tmp"
    leftover.mkdir()
    write_atomically(tmp_path / "a.bin", b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert {p.name for p in tmp_path.iterdir()} == {"a.bin", leftover.name}


def test_a_folder_that_was_set_aside_by_a_killed_writer_comes_back(tmp_path):
    """There is a moment without the old one."""
    aside = tmp_path / ".a.abcd_123.tmp" / "a.old"
    aside.mkdir(parents=True)
    (aside / "precious").touch()

    def fails():
        with in_place(tmp_path / "a"):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert [p.name for p in tmp_path.rglob("*")] == ["a", "precious"]


def test_a_folder_is_never_replaced_by_a_file(tmp_path):
    kept = tmp_path / "precious"
    kept.mkdir()
    (kept / "thesis.txt").write_text("all of it")
    (tmp_path / "link").symlink_to(kept)
    for name in ("precious", "link"):
        with pytest.raises(IsADirectoryError, match=naming(kept)):
            write_atomically(tmp_path / name, b"new")
    assert (kept / "thesis.txt").read_text() == "all of it"
