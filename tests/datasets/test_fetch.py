"""Files from afar: whole and right, or not at all."""

import gzip
import hashlib
import io
import lzma
import os
import struct
import tarfile
import threading
import time
import tracemalloc
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.io import savemat

from lrnn.datasets import DATA_SETS, load, read, read_idx
from lrnn.datasets.dataset import DataSet, File, Member
from lrnn.datasets.fetch import SLACK, check, data_folder, download, located, unpack
from naming import naming

CONTENT = b"1,2,a\n3,?,b\n5,8,a\n" * 20_000


class Server(BaseHTTPRequestHandler):
    """Answers as its path asks."""

    def do_GET(self):
        self.server.asked.append(self.path)
        how = self.path.split("/")[1]
        if how == "absent":
            return self.send_error(404)
        self.send_response(200)
        if how in ("whole", "broken"):
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if how in ("broken", "short"):  # the connection closes half-way
            self.wfile.write(CONTENT[: len(CONTENT) // 2])
        elif how == "endless":
            try:
                while True:
                    self.server.sent += self.wfile.write(bytes(1 << 16))
            except OSError:
                pass
        else:
            self.wfile.write(CONTENT)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        server.asked, server.sent = [], 0
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def toy(server, monkeypatch, tmp_path):
    """A data set that the server publishes in several ways; the cache folder is empty."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("LRNN_DATA_DIR", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)

    def publish(how):
        address = f"http://127.0.0.1:{server.server_port}/{how}/toy.data"
        sha256 = hashlib.sha256(CONTENT).hexdigest()
        entry = DataSet(
            "toy",
            "Toy",
            rows=60_000,
            attributes=2,
            class_names=("a", "b"),
            files=(File("toy/toy.data", len(CONTENT), sha256, address),),
            format="text",
            columns={"attributes": [[0, 1]], "label": 2},
        )
        monkeypatch.setitem(DATA_SETS, "toy", entry)
        return entry.files[0]

    return publish


def held():
    """All files in the data folder."""
    return [path for path in data_folder().rglob("*") if path.is_file()]


def test_a_data_set_is_fetched_on_first_use_and_once(toy, server):
    file = toy("whole")
    server.asked.clear()
    for _ in range(2):
        toy_set = load("toy", scaled=False)
    assert toy_set.data[:3].tolist() == [[1, 2], [3, 5], [5, 8]]
    assert server.asked == ["/whole/toy.data"]
    assert held() == [located(file)]
    assert located(file).read_bytes() == CONTENT
    if os.name == "posix":
        assert located(file).stat().st_mode & 0o777 == 0o644


def test_a_file_without_a_stated_length_is_checked_too(toy):
    assert download(toy("unmeasured")).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("how", "error", "reason"),
    [
        ("broken", ConnectionError, "ChunkedEncodingError"),
        ("short", ValueError, "SHA-256"),
        ("endless", ValueError, "SHA-256"),
        ("absent", ConnectionError, 404),
    ],
)
def test_what_is_not_the_whole_file_leaves_nothing(toy, how, error, reason):
    file = toy(how)
    by_hand = data_folder() / file.path  # where to put it
    with pytest.raises(error, match=naming(file.address, reason, by_hand)) as caught:
        load("toy")
    assert "\n" not in str(caught.value)
    assert held() == []
    toy("whole")
    assert len(load("toy").data) == 60_000


def test_a_server_that_sends_without_end_is_left(toy, server):
    before = server.sent
    with pytest.raises(ValueError, match=naming("SHA-256")):
        download(toy("endless"))
    assert server.sent - before < len(CONTENT) + 16e6  # and what the connection holds


def test_no_network(toy):
    file = replace(toy("whole"), address="http://127.0.0.1:1/toy.data")
    with pytest.raises(ConnectionError, match=naming(file.address, data_folder() / file.path)):
        download(file)
    assert held() == []


def test_an_old_file_stays_while_a_new_one_cannot_be_had(toy):
    file = toy("broken")
    path = data_folder() / file.path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"old")
    with pytest.raises(ConnectionError):
        download(file)
    assert path.read_bytes() == b"old"
    assert download(toy("whole")).read_bytes() == CONTENT


@pytest.mark.parametrize("damage", [CONTENT[:-1], CONTENT + b"x", b"", b"X" + CONTENT[1:]])
def test_a_damaged_file_is_refused_and_named(toy, damage):
    path = data_folder() / toy("whole").path
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    wanted = naming(path, len(damage), len(CONTENT), "SHA-256", "lrnn data fetch toy")
    with pytest.raises(ValueError, match=wanted):
        load("toy")


def test_a_named_folder_is_not_written_to_by_itself(toy, server, monkeypatch, tmp_path):
    file = toy("whole")
    server.asked.clear()
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path / "mine"))
    wanted = naming(tmp_path / "mine" / "toy" / "toy.data", "lrnn data fetch toy", "LRNN_DATA_DIR")
    with pytest.raises(FileNotFoundError, match=wanted):
        load("toy")
    assert server.asked == []
    download(file)  # as asked for
    assert len(load("toy").data) == 60_000


# archives

BATCHES = {"train": bytes([3, *range(12), 1, *range(12, 24)]), "test": bytes([0, *range(24, 36)])}
MEMBERS = tuple(
    Member(f"batches/{part}.bin", len(content), hashlib.sha256(content).hexdigest(), part)
    for part, content in BATCHES.items()
)
ARCHIVE = File(
    "tiny/tiny.tar.gz", 1000, "0" * 64, "http://x", members=MEMBERS, repacked="tiny/tiny.tar.xz"
)
LIMIT = SLACK + sum(map(len, BATCHES.values()))  # bytes that an archive may unpack to


def tar(*entries, **contents):
    """A tar archive of batches, and of further entries after them."""
    batches = {**BATCHES, **contents}.items()
    named = [(tarfile.TarInfo(f"batches/{part}.bin"), content) for part, content in batches]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for info, content in (*named, *entries):
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Where to put an archive of 2×2-pixel images."""
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path))
    entry = replace(
        DATA_SETS["cifar10"], name="tiny", files=(ARCHIVE,), attributes=12, image_shape=(2, 2, 3)
    )
    monkeypatch.setitem(DATA_SETS, "tiny", entry)
    (tmp_path / "tiny").mkdir()
    return tmp_path / "tiny" / "tiny.tar.gz"


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)], ids=["gz", "xz"]
)
def test_an_archive_is_known_by_what_it_holds(tiny, suffix, pack):
    path = tiny.with_suffix(suffix)
    path.write_bytes(pack(tar()))
    check(path, ARCHIVE)
    images = load("tiny", scaled=False)
    assert images.target.tolist() == [3, 1, 0]
    pixels = images.data.reshape(-1, 2, 2, 3)
    assert pixels[0].tolist() == [[[0, 4, 8], [1, 5, 9]], [[2, 6, 10], [3, 7, 11]]]
    test = load("tiny", split="test")
    np.testing.assert_array_equal(test.data, images.data[2:] / np.float32(255))
    assert test.target_names[test.target[0]] == "airplane"


def test_an_archive_writes_nothing_anywhere(tiny, tmp_path):
    strangers = ["../../evil", f"{tmp_path}/evil", "batches/../../evil", "batches/../batches/x"]
    tiny.write_bytes(gzip.compress(tar(*((tarfile.TarInfo(n), b"evil") for n in strangers))))
    before = sorted(tmp_path.parent.rglob("*"))
    assert len(load("tiny").data) == 3
    assert sorted(tmp_path.parent.rglob("*")) == before


def link(kind):
    info = tarfile.TarInfo("batches/train.bin")
    info.type, info.linkname = kind, "/etc/passwd"
    return info, b""


def bomb(kind):
    """A header that says that a hundred gigabytes follow, and some megabytes that do."""
    info = tarfile.TarInfo("bomb")
    info.type, info.size = kind, 100 << 30
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(20 << 20)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (tar(train=b"other" * 6), ["batches/train.bin", "SHA-256"]),
        (tar(train=bytes(26)), ["batches/train.bin", "SHA-256"]),
        (tar(test=BATCHES["test"][:-1]), ["batches/test.bin", "SHA-256"]),
        (tar(link(tarfile.SYMTYPE)), ["batches/train.bin", "SHA-256"]),
        (tar(link(tarfile.LNKTYPE)), ["batches/train.bin", "SHA-256"]),
        (tar()[:1024], ["batches/test.bin"]),
        (tar().replace(b"batches/test", b"batchez/test"), []),
        (b"", []),
        (b"no archive" * 100, []),
        (bomb(tarfile.REGTYPE), [LIMIT]),
        (bomb(tarfile.XHDTYPE), [LIMIT]),
        (bomb(tarfile.GNUTYPE_LONGNAME), [LIMIT]),
        (bomb(tarfile.XHDTYPE)[:SLACK], []),
        (bomb(tarfile.GNUTYPE_LONGNAME)[:SLACK], []),
    ],
)
@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)], ids=["gz", "xz"]
)
def test_a_foreign_or_hostile_archive_is_refused(tiny, suffix, pack, content, named):
    path = tiny.with_suffix(suffix)
    path.write_bytes(pack(content))
    tracemalloc.start()
    with pytest.raises(ValueError, match=naming(path, "lrnn data fetch tiny", *named)):
        unpack(path, ARCHIVE)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 15e6  # 8 MB for xz itself; the bombs hold 20


@pytest.mark.parametrize("damage", ["cut", "plain", "other kind", "changed"])
def test_a_damaged_archive_is_refused(tiny, damage):
    packed = gzip.compress(tar())
    tiny.write_bytes(
        {
            "cut": packed[: len(packed) // 2],
            "plain": tar(),
            "other kind": lzma.compress(tar()),
            "changed": packed[:60] + b"\xff\xff\xff" + packed[63:],
        }[damage]
    )
    for refused in (lambda: load("tiny"), lambda: check(tiny, ARCHIVE)):
        with pytest.raises(ValueError, match=naming(tiny, "lrnn data fetch tiny")):
            refused()


# hostile files of other kinds


def test_a_header_that_promises_a_trillion_rows_is_refused_at_once(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">III", 10**6, 10**6, 784) + bytes(100))
    began = time.perf_counter()
    for reader in (read_idx, read):
        with pytest.raises(ValueError, match=naming(path, "(1000000, 1000000, 784)")):
            reader(path)
    assert time.perf_counter() - began < 1


def test_a_matlab_file_of_objects_is_no_data(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"fea": np.array([[{"a": 1}, "text"]], dtype=object)})
    with pytest.raises(ValueError, match=naming(path, "fea (1, 2)")):
        read(path)


def test_a_matlab_file_that_promises_too_much_is_refused(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"fea": np.ones((3, 4))})
    content = path.read_bytes()
    size = struct.pack("<ii", 3, 4)
    assert content.count(size) == 1
    path.write_bytes(content.replace(size, struct.pack("<ii", 10**6, 10**6)))
    tracemalloc.start()
    with pytest.raises(ValueError, match=naming(path)):
        read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10e6


def test_a_renamed_file_is_not_taken_for_another(monkeypatch, tmp_path):
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path))
    (tmp_path / "yale").mkdir()
    savemat(
        tmp_path / "yale" / "Yale_32x32.mat", {"fea": np.ones((165, 1024)), "gnd": np.ones(165)}
    )
    with pytest.raises(ValueError, match=naming("Yale_32x32.mat", "lrnn data fetch yale")):
        load("yale")
    (tmp_path / "iris").mkdir()
    (tmp_path / "iris" / "iris.data").write_text("5.1,3.5,1.4,0.2,Iris-setosa\n")
    with pytest.raises(ValueError, match=naming("iris.data", "lrnn data fetch iris")):
        load("iris")  # scikit-learn's copy is no way out of a damaged file
