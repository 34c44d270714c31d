"""``lrnn reproduce``, as a person would run it."""

import json

from lrnn import paper


def test_it_runs_says_what_it_is_and_goes_on(call, tmp_path):
    done = call("reproduce", "iris", "--quick", "-o", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Quick run on cut-down data")
    assert "QUICK RUN" in done.stdout
    assert "report: r/index.html" in done.stdout
    results = sorted((tmp_path / "r" / "results").iterdir())
    assert len(results) == 5  # two ways, two kinds of rates; and recognition
    before = [path.stat().st_mtime_ns for path in results]
    done = call("reproduce", "iris", "--quick", "-o", "r", "--json", cwd=tmp_path)
    assert [path.stat().st_mtime_ns for path in results] == before
    document = json.loads(done.stdout)
    assert document["quick"] is True
    assert document["lowest_errors"][0]["structure"] == "4→2"


def test_what_goes_wrong_is_said_in_a_line(call, tmp_path):
    done = call("reproduce", "iriss", cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no experiment 'iriss'; did you mean 'iris'?" in done.said
    (tmp_path / "file").write_text("in the way")
    done = call("reproduce", "iris", "-o", "file", cwd=tmp_path)
    assert done.returncode == 1
    assert "'file' is a file" in done.said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_without_a_name_nothing_runs_and_what_can_is_listed(call, tmp_path):
    done = call("reproduce", cwd=tmp_path, columns=2_000)
    assert done.returncode == 2
    for name in ("all", "figure4", "mnist", "wine", "inhibition", "classifiers", "stalled"):
        assert name in done.said
    assert not [*tmp_path.iterdir()]


def test_inhibition_is_named_and_shown(call, tmp_path, monkeypatch):
    assert "no part of all" in " ".join(call("reproduce", "--help").stdout.replace("│", "").split())
    damage = {"noise 0.1": 0.02, "noise 0.2": 0.03, "noise 0.4": 0.04}
    damage |= {"missing 10 %": 0.02, "missing 30 %": 0.03, "missing 50 %": 0.04}

    def run_tasks(tasks, folder, progress, device):
        assert {task.kind for task in tasks} == {"inhibition", "robustness"}
        found = {"error": 0.0123, "test_error": 0.0321, "seconds": 1.0, "took": 1.0}
        found |= {"damaged": damage, "restored": damage}
        return [{**task.facts(), **found} for task in tasks if task.method == "pca"]

    monkeypatch.setattr(paper, "run_tasks", run_tasks)
    done = call("reproduce", "inhibition", "--quick", "-o", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "MNIST, 50 codes (QUICK RUN, cut-down data)" in done.stdout
    assert "Lowest errors" not in done.stdout
    line = next(line for line in done.stdout.splitlines() if "PCA" in line)
    assert [cell.strip() for cell in line.split("│")[1:-1]] == ["PCA", "0.0123", "0.0321", "–"]
    done = call("reproduce", "inhibition", "--quick", "-o", "r", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["inhibition"][0]["test"] == 0.0321


def test_a_device_is_for_what_is_trained_there(call):
    done = call("reproduce", "iris", "--device", "cuda")
    assert done.returncode == 2
    assert "only stalled and classifiers are trained on it" in done.said
    done = call("reproduce", "stalled", "--device", "gpu")
    assert done.returncode == 1
    assert "device='gpu' cannot be used" in done.said
    assert "mnist" not in done.said  # nothing was begun
