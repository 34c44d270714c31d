"""How lrnn compares with each peer: what tables show beside the measured numbers."""

from collections.abc import Sequence

from lrnn.benchmark.course import Row


def compare_fits(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with when lrnn had reached their error, and the ratio of the two times."""
    curve = next(row["curve"] for row in rows if row["contender"] == "lrnn")
    compared = []
    for row in rows:
        after = None if _ours(row) else reached(curve, row["error"])
        ratio = None if after is None else row["seconds"] / after
        compared.append({**row, "lrnn_seconds": after, "times_faster": ratio})
    return compared


def reached(curve: Sequence[Sequence[float]], error: float) -> float | None:
    """When a curve of (seconds, error) first was as low as an error.

    >>> reached([(1.0, 0.3), (2.0, 0.1)], 0.2)
    2.0
    """
    return next((seconds for seconds, found in curve if found <= error), None)


def compare_encoding(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn encodes as many rows."""
    return _compare(rows, ("rows",))


def compare_scaling(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn trains on data of that size."""
    return _compare(rows, ("rows", "attributes"))


def _compare(rows: Sequence[Row], size: tuple[str, ...]) -> list[Row]:
    ours = {_size(row, size): row["seconds"] for row in rows if _ours(row)}
    return [
        {**row, "times_faster": None if _ours(row) else row["seconds"] / ours[_size(row, size)]}
        for row in rows
    ]


def compare_simulation(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn is on one core, in its longest run."""
    speed = "events_per_second"
    ours = max(
        (row for row in rows if row["contender"] == "lrnn"), key=lambda row: float(row["events"])
    )
    return [
        {**row, "times_faster": None if _ours(row) else ours[speed] / row[speed]} for row in rows
    ]


def _ours(row: Row) -> bool:
    return bool(row["contender"].startswith("lrnn"))


def _size(row: Row, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(row[name] for name in names)
