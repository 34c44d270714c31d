"""How lrnn compares with each peer: what tables show beside the measured numbers."""

from collections.abc import Sequence

from lrnn.benchmark.course import Row


def compare_training(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with when lrnn had reached their error, and the ratio of the two times.

    Where sizes differ, each is compared with lrnn on data of the same size.
    """
    curves = {_size(row): row["curve"] for row in rows if row["contender"] == "lrnn"}
    compared = []
    for row in rows:
        after = None if _ours(row) else reached(curves[_size(row)], row["error"])
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
    ours = {row["rows"]: row["seconds"] for row in rows if _ours(row)}
    return [
        {**row, "times_faster": None if _ours(row) else row["seconds"] / ours[row["rows"]]}
        for row in rows
    ]


def compare_simulation(rows: Sequence[Row]) -> list[Row]:
    """Peers' rows with how many times faster lrnn is on one core, in its longest run."""
    _, speed = max(
        (row["events"], row["events_per_second"]) for row in rows if row["contender"] == "lrnn"
    )
    return [
        {**row, "times_faster": None if _ours(row) else speed / row["events_per_second"]}
        for row in rows
    ]


def _ours(row: Row) -> bool:
    return bool(row["contender"].startswith("lrnn"))


def _size(row: Row) -> tuple[int | None, int | None]:
    return row.get("rows"), row.get("attributes")
