"""``lrnn reproduce``, as a person would run it."""

import json


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
