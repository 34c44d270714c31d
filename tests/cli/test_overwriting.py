"""What stands at the output's name is never replaced unasked, nor lost by an interruption."""

import json
import re
import signal

import matplotlib.pyplot as plt
import numpy as np
import pytest

import lrnn
from lrnn import LRNNAutoencoder
from lrnn.plots.axes import write_figure
from lrnn.report.page import render
from lrnn.storage.checkpoints import Checkpoint
from lrnn.tables.marks import is_marked

pytestmark = pytest.mark.usefixtures("unrendered")

# A name is refused before anything is read: there are no such models and data.
TAKEN = [
    ("fit none.csv -o a.safetensors", "a.safetensors"),
    ("fit none.csv", "none.safetensors"),
    ("fit data/none.csv.gz", "none.safetensors"),
    ("encode none.safetensors none.csv -o a.npy", "a.npy"),
    ("encode none.safetensors none.csv", "none-codes.csv"),
    ("encode none.safetensors none.parquet", "none-codes.parquet"),
    ("encode none.safetensors digits", "digits-codes.csv"),
    ("reconstruct none.safetensors none.csv -o a.csv", "a.csv"),
    ("reconstruct none.safetensors none.npy", "none-reconstructed.npy"),
    ("classify none.safetensors none.csv -o a.tsv", "a.tsv"),
    ("classify none.safetensors data/none.npy", "none-classes.csv"),
    ("classify none.safetensors none.csv --events 1e4 --plot a.png", "a.png"),
    ("detect none.csv -o a.tsv", "a.tsv"),
    ("detect data/none.npy", "none-scores.csv"),
    ("detect none.csv --save a.safetensors", "a.safetensors"),
    ("detect none.csv --model none.safetensors --report r", "r/index.html"),
    ("simulate none.safetensors none.csv -o a.png", "a.png"),
    ("simulate none.safetensors none.csv -o a.svg", "a.svg"),
    ("simulate none.safetensors none.csv --row 3", "none-row3.png"),
    ("report none.safetensors none.csv -o r", "r/index.html"),
    ("report none.safetensors none.csv", "none-report/index.html"),
    ("export none.safetensors -o a.onnx", "a.onnx"),
    ("export none.safetensors", "none.onnx"),
    ("frontier none.csv -o f", "f/frontier.json"),
    ("frontier none.csv -o f", "f/frontier.png"),
    ("frontier none.csv", "none-frontier/models/03.safetensors"),
    ("width none.csv -o a.json", "a.json"),
    ("width none.csv -o a.png", "a.png"),
    ("demo", "lrnn-demo/index.html"),
    ("demo -o d", "d/printed.safetensors"),
]


@pytest.mark.parametrize(("command", "name"), TAKEN)
def test_what_is_there_is_refused_before_any_work_is_done(call, tmp_path, command, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    done = call(*command.split(), cwd=tmp_path)
    assert done.returncode == 1
    assert done.names(f"'{name}'", "--force")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("command", "name"), [pair for pair in TAKEN if not pair[0].startswith("demo")]
)
def test_force_goes_on(call, tmp_path, command, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    done = call(*command.split(), "--force", cwd=tmp_path)
    assert done.returncode == 1
    assert not done.names("--force")
    assert re.search(r"\bnone\.", done.said)
    assert path.read_text() == "precious"  # it failed before it could write


@pytest.mark.parametrize("command", sorted({command for command, _ in TAKEN if " -o " in command}))
def test_what_cannot_be_written_to_is_refused_before_any_work_is_done(call, tmp_path, command):
    """Root may write anywhere, but not into a file, and not into /proc."""
    (tmp_path / "file").write_text("precious")
    words = command.split()
    place = words.index("-o") + 1
    for folder in ("file", "/proc"):
        words[place] = f"{folder}/{words[place].rpartition('/')[2]}"
        done = call(*words, cwd=tmp_path)
        assert done.returncode == 1
        assert done.names("'file'" if folder == "file" else "/proc")
    assert [path.name for path in tmp_path.rglob("*")] == ["file"]


def test_pages_and_pictures_say_that_lrnn_has_made_them(tmp_path):
    figure = plt.figure()
    for kind in ("png", "svg", "pdf"):
        write_figure(figure, tmp_path / f"ours.{kind}")
        figure.savefig(tmp_path / f"other.{kind}")
        assert is_marked(tmp_path / f"ours.{kind}")
        assert not is_marked(tmp_path / f"other.{kind}")
    plt.close(figure)
    page = tmp_path / "index.html"
    page.write_text(render("base.html", {}))
    assert is_marked(page)
    page.write_text(page.read_text().replace("generator", "author"))
    assert not is_marked(page)
    assert not is_marked(tmp_path / "none.png")
    (tmp_path / "folder.png").mkdir()
    assert not is_marked(tmp_path / "folder.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a")
    X = np.random.default_rng(0).random((40, 6))
    np.save(folder / "x.npy", X)
    LRNNAutoencoder(2, max_iter=5).fit(X).save(folder / "m.safetensors")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "simulate m.safetensors x.npy --events 1e4",
        "report m.safetensors x.npy",
    ],
)
def test_what_lrnn_has_made_is_made_again_without_a_question(call, folder, command):
    for _ in range(2):
        done = call(*command.split(), cwd=folder)
        assert done.returncode == 0, done.stderr


def test_a_demo_of_its_own_is_written_again(call, tmp_path, monkeypatch):
    def stop(*_):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(LRNNAutoencoder, "fit", stop)
    for name in ("digits.safetensors", "printed.safetensors"):
        (tmp_path / name).touch()
    write_figure(plt.figure(), tmp_path / "digits.png")
    plt.close()
    assert call("demo", "-o", ".", cwd=tmp_path).returncode == 1
    (tmp_path / "index.html").write_text(render("base.html", {}))
    assert call("demo", "-o", ".", cwd=tmp_path).returncode == 143


# Interruptions


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "command",
    [
        "encode m.safetensors x.npy -o new.npy",
        "reconstruct m.safetensors x.npy -o new.csv",
        "simulate m.safetensors x.npy -o new.png",
        "report m.safetensors x.npy -o new",
        "export m.safetensors -o new.onnx",
        "fit x.npy -o new.safetensors",
        "frontier x.npy -o new",
        "width x.npy -o new.json",
    ],
)
def test_an_interruption_is_one_line_and_leaves_nothing(
    call, folder, monkeypatch, command, sent, status
):
    def interrupted(*_, **__):
        signal.raise_signal(sent)

    for place in (
        "lrnn.estimators.autoencoder.LRNNAutoencoder._passed",
        "lrnn.estimators.autoencoder.LRNNAutoencoder._train",
        "lrnn.estimators.autoencoder.LRNNAutoencoder.arrivals",
        "lrnn.storage.export.to_onnx",
        "lrnn.analysis.widths.held_out_errors",
    ):
        monkeypatch.setattr(place, interrupted)
    before = set(folder.rglob("*")), signal.getsignal(signal.SIGTERM)
    done = call(*command.split(), "--quiet", cwd=folder)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (status, "", 1)
    assert (set(folder.rglob("*")), signal.getsignal(signal.SIGTERM)) == before


@pytest.fixture
def interrupt(monkeypatch):
    """Send a signal to a training after so many steps."""

    def prepare(sent, steps):
        original, left = Checkpoint.checkpoint, iter(range(steps))

        def checkpoint(self, *arguments, **options):
            original(self, *arguments, **options)
            if next(left, None) == steps - 1:
                signal.raise_signal(sent)

        monkeypatch.setattr(Checkpoint, "checkpoint", checkpoint)

    return prepare


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_fit_goes_on_without_force(call, tmp_path, folder, interrupt, sent, status):
    command = ("fit", folder / "x.npy", "-o", "m.safetensors", "--max-iter", 20, "--tol", 0)
    interrupt(sent, 5)
    done = call(*command, "--json", cwd=tmp_path)
    assert done.returncode == status
    assert json.loads(done.stdout)["interrupted"] is True
    assert done.names("--resume")
    assert lrnn.load(tmp_path / "m.safetensors").history_[-1].stopped == "interrupted"
    assert call(*command, cwd=tmp_path).names("m.safetensors.checkpoint", "--resume")
    assert call(*command, "--resume", cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]
    done = call(*command, "--resume", cwd=tmp_path)  # it is finished, and stays
    assert (done.returncode, done.names("'m.safetensors'", "--force")) == (1, True)
    found = lrnn.load(tmp_path / "m.safetensors")
    settings = {"max_iter": 20, "tol": 0, "random_state": 0}
    whole = LRNNAutoencoder(**settings).fit(np.load(folder / "x.npy"))
    np.testing.assert_array_equal(found.components_, whole.components_)


def test_a_checkpoint_does_not_give_up_a_finished_model(call, tmp_path, folder):
    (tmp_path / "m.safetensors").write_bytes((folder / "m.safetensors").read_bytes())
    (tmp_path / "m.safetensors.checkpoint").touch()
    for option in ("--resume", "--restart"):
        done = call("fit", folder / "x.npy", "-o", "m.safetensors", option, cwd=tmp_path)
        assert done.names("'m.safetensors'", "--force")


@pytest.mark.filterwarnings("default")
def test_an_interrupted_frontier_goes_on_without_force(call, tmp_path, folder, interrupt):
    command = ("frontier", folder / "x.npy", "--penalties", 2, "--passes", 2, "-o", "f")
    interrupt(signal.SIGTERM, 3)
    done = call(*command, cwd=tmp_path)
    assert done.returncode == 143
    assert done.names("--resume")
    assert json.loads((tmp_path / "f" / "frontier.json").read_text())["interrupted"] is True
    done = call(*command, "--resume", cwd=tmp_path)
    assert done.returncode == 0
    assert done.shows(3, 6, "--hidden")
    assert not (tmp_path / "f" / "checkpoint").exists()
    assert call(*command, cwd=tmp_path).names("--force")
