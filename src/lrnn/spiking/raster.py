"""Single spikes of a simulation: who fired when, in which run; and files of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.tables.writers import write_blocks

if TYPE_CHECKING:
    import neo

BYTES_PER_SPIKE = 12  # a time in float64, a neuron in int32
SPIKES_AT_ONCE = 1 << 18  # that are written to a file
COLUMNS = ("row", "replica", "neuron", "time")

Spikes = tuple[NDArray[Any], NDArray[np.int32]]  # of a run: when, in order, and who


@dataclass(frozen=True, eq=False, repr=False)
class Raster:
    """Spikes of some neurons in one or more runs: in order of row, replica and time.

    Attributes
    ----------
    times : ndarray of shape (n_spikes,)
        When they were fired, from the end of the run's warm-up on.
    neurons : ndarray of int32 of shape (n_spikes,)
        Who fired.
    recorded : ndarray of int64
        Whose spikes were recorded, fired or not, in ascending order.
    rows, replicas : ndarray of int32 of shape (n_spikes,)
        In which run: of which row of arrivals, and which replica of it, both counted from 0.
    runs : ndarray of int64 of shape (n_runs, 2)
        Row and replica of each run, in order.
    durations : ndarray of shape (n_runs,)
        How long each run was.
    counts : ndarray of int64 of shape (n_runs,)
        How many spikes it has.

    Examples
    --------
    >>> from lrnn import RandomNeuralNetwork
    >>> network = RandomNeuralNetwork([1, 1], [[0, 1], [0, 0]])
    >>> result = network.simulate(
    ...     [[0.5, 0], [0.9, 0]], time=1_000, replicas=3, record=[0, 1], random_state=0
    ... )
    >>> result.raster
    Raster(8,... spikes of 2 neurons in 6 runs)
    >>> one = result.raster.of(row=1, replica=2)
    >>> one
    Raster(1,... spikes of 2 neurons in 1 run)
    >>> bool((np.diff(one.times) >= 0).all())
    True
    """

    times: Floats
    neurons: NDArray[np.int32]
    recorded: NDArray[np.int64]
    runs: NDArray[np.int64]
    durations: Floats
    counts: NDArray[np.int64]

    @classmethod
    def collect(
        cls,
        spikes: Mapping[int, Spikes],
        recorded: NDArray[np.int64],
        replicas: int,
        durations: Floats,
    ) -> "Raster":
        """All spikes together, from those of each run that has any: run after run, as numbered.

        Parameters
        ----------
        spikes : mapping from int to (ndarray, ndarray)
            Times and neurons of the spikes of each run, by its number.
        recorded : ndarray of int64
            Neurons that were recorded.
        replicas : int
            Runs for each row of arrivals.
        durations : ndarray
            How long each run was.
        """
        count = len(durations)
        empty = (np.empty(0), np.empty(0, np.int32))
        counts = np.array([len(spikes.get(run, empty)[0]) for run in range(count)], np.int64)
        ends = np.cumsum(counts)
        times, neurons = np.empty(counts.sum()), np.empty(counts.sum(), np.int32)
        lengths = np.array(durations, dtype=np.float64)
        for run in np.flatnonzero(counts):
            part = slice(ends[run] - counts[run], ends[run])
            times[part], neurons[part] = spikes[int(run)]
            lengths[run] = max(lengths[run], times[ends[run] - 1])  # not less, by rounding
        runs = np.stack(np.divmod(np.arange(count), replicas), axis=1)
        return cls(times, neurons, recorded, runs, lengths, counts)

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """Of which row of arrivals each spike is."""
        return np.repeat(self.runs[:, 0].astype(np.int32), self.counts)

    @cached_property
    def replicas(self) -> NDArray[np.int32]:
        """Of which replica of that row each spike is."""
        return np.repeat(self.runs[:, 1].astype(np.int32), self.counts)

    def of(self, row: int = 0, replica: int = 0) -> "Raster":
        """The spikes of one run, which are not copied.

        Parameters
        ----------
        row, replica : int, default=0
            Which run.

        Returns
        -------
        raster : Raster
            A view of this one.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> network = RandomNeuralNetwork([1.0], [[0.0]])
        >>> result = network.simulate([0.5], time=10, replicas=3, record=[0], random_state=0)
        >>> one = result.raster.of(replica=2)
        >>> bool((one.replicas == 2).all())
        True
        """
        wanted = []
        for name, value, there in zip(("row", "replica"), (row, replica), self.runs.T, strict=True):
            number = index(value) if hasattr(value, "__index__") else -1
            if number not in there:
                raise ValueError(
                    f"{name} is {value!r}, but this raster has {name}s {there.min()} to "
                    f"{there.max()}"
                )
            wanted.append(number)
        run = int(np.flatnonzero((self.runs == wanted).all(axis=1))[0])
        end = int(self.counts[: run + 1].sum())
        part, one = slice(end - int(self.counts[run]), end), slice(run, run + 1)
        return Raster(
            self.times[part],
            self.neurons[part],
            self.recorded,
            self.runs[one],
            self.durations[one],
            self.counts[one],
        )

    def __iter__(self) -> Iterator["Raster"]:
        """The runs, one after the other."""
        return (self.of(int(row), int(replica)) for row, replica in self.runs)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        numbers = {
            "spike": len(self),
            "neuron": len(self.recorded),
            "run": len(self.runs),
        }
        spikes, neurons, runs = (f"{n:,} {name}{'s' * (n != 1)}" for name, n in numbers.items())
        return f"{type(self).__name__}({spikes} of {neurons} in {runs})"

    def to_csv(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a line for each spike: row, replica, neuron, time; the first three from 0.

        Parameters
        ----------
        path : str or path-like
            A name that ends in .csv. The file appears when it is complete, or not at all.
        force : bool, default=False
            Whether to replace a file that is there.
        """
        self._write(path, ".csv", force)

    def to_parquet(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write columns row, replica, neuron and time.

        Parameters
        ----------
        path : str or path-like
            A name that ends in .parquet. The file appears when it is complete, or not at all.
        force : bool, default=False
            Whether to replace a file that is there.
        """
        self._write(path, ".parquet", force)

    def _write(self, path: str | PathLike[str], suffix: str, force: bool) -> None:
        path = Path(path)
        if path.suffix.lower() != suffix:
            raise ValueError(f"the name {str(path)!r} should end in {suffix}")
        if path.exists() and not force:
            raise FileExistsError(
                f"{str(path)!r} exists; force=True replaces it, or give another name"
            )
        columns = (self.rows, self.replicas, self.neurons, self.times)
        starts = range(0, max(1, len(self)), SPIKES_AT_ONCE)  # a file without spikes has columns
        blocks = ([column[i : i + SPIKES_AT_ONCE] for column in columns] for i in starts)
        write_blocks(path, blocks, (len(self), len(COLUMNS)), np.float64, COLUMNS)

    def to_neo(self, unit: str = "s") -> "neo.Block":
        """The spikes as `neo <https://neo.readthedocs.io>`_ has them; needs ``lrnn[neo]``.

        A block has a segment for each run (annotated with its ``row`` and ``replica``), with a
        train of spikes for each recorded neuron (annotated with its number, ``neuron``), from 0 to
        the run's end.

        Parameters
        ----------
        unit : str, default="s"
            The time of the model has no unit, but neo's has. This is the unit that it is taken in,
            such as "s" or "ms": a neuron of rate 1 then fires once in that, if it is always
            excited.

        Returns
        -------
        block : neo.Block
            One segment for each run.
        """
        try:
            import neo
            import quantities
        except ImportError:
            raise ImportError("to_neo needs neo: pip install 'lrnn[neo]'") from None
        try:
            quantities.Quantity(1.0, unit).rescale("s")
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"unit must be one of time, such as 's' or 'ms', got {unit!r}"
            ) from None
        block = neo.Block(
            name="random neural network", description=f"one unit of the model's time is 1 {unit}"
        )
        for number, run in enumerate(self):
            ((row, replica),) = run.runs.tolist()
            segment = neo.Segment(
                name=f"row {row}, replica {replica}", index=number, row=row, replica=replica
            )
            order = np.argsort(run.neurons, kind="stable")
            ends = np.searchsorted(run.neurons, run.recorded, side="right", sorter=order)
            trains = np.split(run.times[order], ends[:-1])
            for neuron, times in zip(run.recorded.tolist(), trains, strict=True):
                segment.spiketrains.append(
                    neo.SpikeTrain(
                        times,
                        units=unit,
                        t_start=0.0,
                        t_stop=float(run.durations[0]),
                        name=f"neuron {neuron}",
                        neuron=neuron,
                    )
                )
            block.segments.append(segment)
        return block
