"""``lrnn data``: list, fetch, verify and export."""

import hashlib
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from lrnn.datasets import DATA_SETS, load, read

ZOO = b"aardvark,1,0,0,1,0,0,1,1,1,1,0,0,4,0,0,1,1\n"


class Server(BaseHTTPRequestHandler):
    """Has one file."""

    def do_GET(self):
        if self.path != "/zoo.data":
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(ZOO)))
        self.end_headers()
        self.wfile.write(ZOO)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def run(call):
    return lambda *arguments: call("data", *arguments, columns=80)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty data folder, and a server that has zoo but not glass."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("LRNN_DATA_DIR", str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for name in ("zoo", "glass"):
            file = replace(
                DATA_SETS[name].files[0],
                address=f"http://127.0.0.1:{server.server_port}/{name}.data",
                sha256=hashlib.sha256(ZOO).hexdigest(),
                size=len(ZOO),
            )
            monkeypatch.setitem(DATA_SETS, name, replace(DATA_SETS[name], files=(file,)))
        yield tmp_path
        server.shutdown()


def test_a_list_of_what_there_is(folder, run):
    listed = run("list")
    assert listed.returncode == 0
    lines = listed.stdout.splitlines()
    assert set(DATA_SETS) < {line.split()[0] for line in lines}
    assert listed.shows("mnist", "60,000", 784, 10, "11.6 MB")
    assert max(map(len, lines[:-1])) <= 80
    run("fetch", "zoo")
    entries = {
        entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)["datasets"]
    }
    assert (entries["mnist"]["rows"], entries["mnist"]["attributes"]) == (60_000, 784)
    assert entries["zoo"]["where"] == "here"
    assert entries["glass"]["where"] == "to fetch"
    assert entries["iris"]["where"] == "embedded"
    assert entries["soybean"]["splits"] == ["train", "test", "all"]
    assert run("list", "--quiet").stdout == ""


def test_fetch_and_verify(folder, run):
    fetched = run("fetch", "zoo", "digits")
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.shows("zoo/zoo.data", "digits")
    assert (folder / "zoo" / "zoo.data").read_bytes() == ZOO
    again = run("fetch", "zoo", "--json")
    document = json.loads(again.stdout)
    assert document["files"] == [{"file": "zoo/zoo.data", "status": "here"}]
    assert document["folder"] == str(folder)
    assert again.stderr == ""

    verified = run("verify", "--json")
    assert verified.returncode == 0
    found = {file["file"]: file["status"] for file in json.loads(verified.stdout)["files"]}
    assert (found["zoo/zoo.data"], found["glass/glass.data"]) == ("right", "not here")
    assert run("verify", "zoo").shows("zoo/zoo.data")
    assert run("verify", "--quiet").stdout == ""


def test_a_damaged_file_is_found_and_fetched_again(folder, run):
    run("fetch", "zoo")
    path = folder / "zoo" / "zoo.data"
    path.write_bytes(ZOO[:-5])
    verified = run("verify", "zoo", "glass", "--json")
    assert verified.returncode == 1
    document = json.loads(verified.stdout)
    assert document["files"][0] == {"file": "zoo/zoo.data", "status": "wrong"}
    assert verified.names(path)
    assert "lrnn data fetch zoo" in document["problems"][0]
    assert run("fetch", "zoo").returncode == 0
    assert path.read_bytes() == ZOO
    assert run("verify", "zoo").returncode == 0


def test_what_cannot_be_fetched_stops_no_other(folder, run):
    fetched = run("fetch", "glass", "zoo", "--json")
    assert fetched.returncode == 1
    assert [file["status"] for file in json.loads(fetched.stdout)["files"]] == ["failed", "fetched"]
    assert fetched.names("glass.data", 404)


def test_progress_is_shown_to_a_person_only(folder, run, monkeypatch):
    monkeypatch.setattr("lrnn.progress.PATIENCE", 0)
    assert "zoo/zoo.data" in run("fetch", "zoo").stderr
    (folder / "zoo" / "zoo.data").unlink()
    assert run("fetch", "zoo", "--quiet").stderr == ""


def test_an_unknown_name(folder, run):
    failed = run("fetch", "mnits")
    assert failed.returncode == 1
    assert failed.names("mnits", "'mnist'?")
    assert run("fetch").returncode == 2


@pytest.fixture
def exported(run, tmp_path):
    def export(name, file, *more):
        done = run("export", name, f"{tmp_path}/{file}", "--json", *more)
        assert done.returncode == 0, done.said
        return json.loads(done.stdout)

    return export


def test_a_data_set_as_a_table(folder, exported, tmp_path):
    said = exported("iris", "iris.csv")
    assert (said["rows"], said["attributes"], said["labels"]) == (150, 4, True)
    lines = (tmp_path / "iris.csv").read_text().splitlines()
    assert lines[0] == "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm),label"
    assert lines[1] == "5.1,3.5,1.4,0.2,Iris-setosa"
    assert len(lines) == 151
    from pyarrow import parquet

    exported("iris", "iris.parquet")
    table = parquet.read_table(tmp_path / "iris.parquet")
    assert table.column_names == lines[0].split(",")
    assert table["label"][149].as_py() == "Iris-virginica"
    exported("wine", "wine.tsv")
    assert (tmp_path / "wine.tsv").read_text().splitlines()[1].endswith("\t1065\t1")  # whole


def test_a_data_set_as_arrays(folder, run, exported, tmp_path):
    data = load("digits", scaled=False).data
    for file in ("a.npy", "a.npz", "a.mat"):
        assert exported("digits", file)["labels"] == (file != "a.npy")
        table = read(tmp_path / file)
        assert table.image_shape == (8, 8)
        np.testing.assert_array_equal(table.data, data)
    assert np.load(tmp_path / "a.npz")["labels"][:3].tolist() == ["0", "1", "2"]
    said = run("export", "digits", str(tmp_path / "b.npy"))
    assert said.names(".npy")


@pytest.mark.parametrize("name", ["digits/", "digits"])
def test_a_data_set_as_images(folder, run, exported, tmp_path, name, monkeypatch):
    few = load("digits", scaled=False)
    few.data, few.target = few.data[:12], few.target[:12]
    monkeypatch.setattr("lrnn.datasets.export.load", lambda *_, **__: few)
    exported("digits", name)
    assert (tmp_path / "digits" / "0" / "01.png").exists()
    table = read(tmp_path / "digits")
    assert table.labels == ("0", "0", "1", "1", *"23456789")
    order = np.argsort(few.target, kind="stable")
    np.testing.assert_array_equal(table.data, np.rint(few.data[order] * 255 / 16))
    failed = run("export", "digits", f"{tmp_path}/{name}")
    assert failed.names("--force")
    exported("digits", name, "--force")
    (tmp_path / "digits" / "0" / "mine.png").write_bytes(b"precious")
    failed = run("export", "digits", f"{tmp_path}/{name}", "--force")
    assert failed.names("0/mine.png")
    assert (tmp_path / "digits" / "0" / "mine.png").exists()


def test_an_export_replaces_nothing_by_itself(folder, run, exported, tmp_path):
    (tmp_path / "wine.csv").write_text("precious")
    failed = run("export", "wine", str(tmp_path / "wine.csv"))
    assert failed.returncode == 1
    assert failed.names("wine.csv", "--force")
    assert (tmp_path / "wine.csv").read_text() == "precious"
    exported("wine", "wine.csv", "--force")
    assert len((tmp_path / "wine.csv").read_text().splitlines()) == 179


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("wine", "wine/"), ["wine", "wine.csv"]),
        (("wine", "a.xls"), ["a.xls", ".csv"]),
        (("wnie", "a.csv"), ["wnie", "'wine'?"]),
        (("wine", "a.csv", "--split", "test"), ["wine", "test"]),
        (("digits", "nowhere/digits"), ["nowhere"]),
    ],
)
def test_what_cannot_be_exported(folder, run, tmp_path, arguments, named):
    name, file, *more = arguments
    failed = run("export", name, f"{tmp_path}/{file}", *more)
    assert failed.returncode == 1
    assert failed.names(*named)
    assert not list(tmp_path.iterdir())
