"""``lrnn data``: list, fetch and verify."""

import hashlib
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from lrnn.cli.data import data_app
from lrnn.datasets import DATA_SETS

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


def run(*arguments):
    return CliRunner().invoke(data_app, arguments, env={"COLUMNS": "80"})


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


def test_a_list_of_what_there_is(folder):
    listed = run("list")
    assert listed.exit_code == 0
    lines = {line.split()[0]: line.split() for line in listed.stdout.splitlines()}
    assert set(DATA_SETS) < set(lines)
    assert lines["mnist"] == ["mnist", "60,000", "784", "to", "fetch", "10", "11.6", "MB"]
    assert lines["digits"] == ["digits", "1,797", "64", "embedded", "10"]
    assert lines["iris"][3] == "embedded"
    assert max(map(len, listed.stdout.splitlines()[:-1])) <= 80
    run("fetch", "zoo")
    entries = {
        entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)["datasets"]
    }
    assert entries["zoo"]["where"] == "here"
    assert entries["glass"]["where"] == "to fetch"
    assert entries["iris"]["where"] == "embedded"
    assert entries["soybean"]["splits"] == ["train", "test", "all"]
    assert run("list", "--quiet").stdout == ""


def test_fetch_and_verify(folder):
    fetched = run("fetch", "zoo", "digits")
    assert fetched.exit_code == 0, fetched.output
    assert " fetched  zoo/zoo.data" in fetched.stdout
    assert "embedded  digits" in fetched.stdout
    assert (folder / "zoo" / "zoo.data").read_bytes() == ZOO
    again = run("fetch", "zoo", "--json")
    document = json.loads(again.stdout)
    assert document["files"] == [{"file": "zoo/zoo.data", "status": "here"}]
    assert document["folder"] == str(folder)
    assert again.stderr == ""

    verified = run("verify")
    assert verified.exit_code == 0
    assert "   right  zoo/zoo.data" in verified.stdout
    assert "not here  glass/glass.data" in verified.stdout
    assert run("verify", "--quiet").stdout == ""


def test_a_damaged_file_is_found_and_fetched_again(folder):
    run("fetch", "zoo")
    path = folder / "zoo" / "zoo.data"
    path.write_bytes(ZOO[:-5])
    verified = run("verify", "zoo", "glass", "--json")
    assert verified.exit_code == 1
    document = json.loads(verified.stdout)
    assert document["files"][0] == {"file": "zoo/zoo.data", "status": "wrong"}
    assert str(path) in str(verified.exception)
    assert "lrnn data fetch zoo" in document["problems"][0]
    assert run("fetch", "zoo").exit_code == 0
    assert path.read_bytes() == ZOO
    assert run("verify", "zoo").exit_code == 0


def test_what_cannot_be_fetched_stops_no_other(folder):
    fetched = run("fetch", "glass", "zoo", "--json")
    assert fetched.exit_code == 1
    assert [file["status"] for file in json.loads(fetched.stdout)["files"]] == ["failed", "fetched"]
    assert "glass.data cannot be fetched (it answered 404)" in str(fetched.exception)


def test_progress_is_shown_to_a_person_only(folder):
    assert "zoo/zoo.data" in run("fetch", "zoo").stderr
    (folder / "zoo" / "zoo.data").unlink()
    assert run("fetch", "zoo", "--quiet").stderr == ""


def test_an_unknown_name(folder):
    failed = run("fetch", "mnits")
    assert failed.exit_code == 1
    assert "did you mean 'mnist'?" in str(failed.exception)
    assert run("fetch").exit_code == 2


def test_help_has_examples():
    for command in ("list", "fetch", "verify"):
        assert f"lrnn data {command}" in run(command, "--help").stdout
