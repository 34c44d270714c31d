"""What a report is about."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.analysis.audit import Audit, Recognised
from lrnn.analysis.explanations import Explanation
from lrnn.analysis.frontiers import Frontier
from lrnn.arrays import Floats
from lrnn.estimators.autoencoder import LRNNAutoencoder
from lrnn.estimators.classifier import LRNNClassifier
from lrnn.estimators.detector import LRNNOutlierDetector
from lrnn.plots.matrix import matrix
from lrnn.plots.spikes import EVENTS_SHOWN
from lrnn.rows import Rows, attributes_of, some_of
from lrnn.rows.validation import check_data
from lrnn.spiking import Simulation
from lrnn.tables.labels import UNLABELLED, class_numbers
from lrnn.tables.messages import Place
from lrnn.tables.scaling import input_names, input_shape

RASTER_NEURONS = 48
RASTER_SPIKES = 1_200


@dataclass(frozen=True, eq=False)
class Findings:
    """What an outlier detector says of the rows of a report.

    Attributes
    ----------
    detector : LRNNOutlierDetector
        The model.
    strangeness : ndarray of shape (n_rows,)
        Of all rows.
    outliers : ndarray of bool
        Which of them are outliers.
    strangest : Explanation
        Of the strangest rows, the strangest first.
    places : ndarray of int
        Which of all rows these are, from 0.
    names : sequence of str, optional
        What these are called, where rows have names.
    """

    detector: LRNNOutlierDetector
    strangeness: Floats
    outliers: NDArray[np.bool_]
    strangest: Explanation
    places: NDArray[np.intp]
    names: Sequence[str] | None = None


@dataclass(frozen=True)
class Subject:
    """A model, the data it is shown with, and what is known of both.

    Attributes
    ----------
    model : LRNNAutoencoder or LRNNClassifier
        A fitted model.
    X : as for :meth:`lrnn.LRNNAutoencoder.transform`
        The data, as the model takes them.
    name : str
        What the data are called.
    command : str
        What makes the report again.
    image_shape : tuple of int, optional
        If rows are images.
    attributes : tuple of str, optional
        Names of the columns.
    row : int, optional
        Which row is presented to the spiking network; by default the first that has a spike.
    against : dict of str to Subject
        Other models of the same kind to compare with, by name, with the data as each takes them.
    seed : int, default=0
        Of the simulation.
    frontier : Frontier, optional
        What `lrnn.frontier` has found for these data.
    known : dict of str to float
        Errors to compare with in its plot, such as the paper's.
    classes : array-like of shape (n_rows,), optional
        The class of each row; those of a classifier are compared as text.
    label : str, default="class"
        What the classes are called.
    remarks : tuple of str
        What else is to be known of the data, such as values that were cut off.
    live : str, optional
        The address of a page beside the report in which the network runs.
    findings : Findings, optional
        If the model is that of an outlier detector, what this says of the rows.
    """

    model: LRNNAutoencoder | LRNNClassifier
    X: Any
    name: str
    command: str
    image_shape: tuple[int, ...] | None = None
    attributes: tuple[str, ...] | None = None
    row: int | None = None
    against: dict[str, "Subject"] = field(default_factory=dict)
    seed: int = 0
    frontier: Frontier | None = None
    known: dict[str, float] = field(default_factory=dict)
    classes: Any = None
    label: str = "class"
    remarks: tuple[str, ...] = ()
    live: str | None = None
    findings: Findings | None = None

    @cached_property
    def rows(self) -> Rows:
        """The data in [0, 1], in memory where they can be."""
        return check_data(self.model, self.X, reset=False).in_memory()

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and attributes there are."""
        return attributes_of(self.rows).shape

    def cells(self, which: Any) -> Floats:
        """The attributes of some rows, in [0, 1]."""
        return matrix(attributes_of(self.rows).take(which), "X")

    @property
    def classifies(self) -> bool:
        """Whether the model is a classifier."""
        return isinstance(self.model, LRNNClassifier)

    @property
    def autoencoder(self) -> LRNNAutoencoder:
        """The model, which gives rows back."""
        assert isinstance(self.model, LRNNAutoencoder)
        return self.model

    @property
    def classifier(self) -> LRNNClassifier:
        """The model, which tells classes."""
        assert isinstance(self.model, LRNNClassifier)
        return self.model

    @cached_property
    def audit(self) -> Audit:
        """Of the model on all of the data."""
        found = self.model.audit(self.rows)
        if isinstance(self.model, LRNNClassifier):
            return replace(found, standing=self.standing)
        return found

    @cached_property
    def probabilities(self) -> Floats:
        """Of the classes, for all rows, as a classifier tells them."""
        return np.asarray(self.classifier.predict_proba(self.rows), dtype=np.float64)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Those of the true classes of all rows, as `class_numbers` tells them."""
        if self.classes is None:
            return np.full(self.shape[0], UNLABELLED)
        return class_numbers(self.classes, self.classifier.classes_)

    @cached_property
    def standing(self) -> Recognised | None:
        """How well the classifier recognises rows that have a class, if it knows any of these.

        Rows of classes that it does not know are not told right; they have no cross-entropy.
        """
        numbers = self.numbers
        known = np.flatnonzero(numbers >= 0)
        if not len(known):
            return None
        found = self.probabilities[known]
        with warnings.catch_warnings():  # of rows that make no spike, which the page tells itself
            warnings.simplefilter("ignore")
            spikes = self.classifier.spikes_per_decision(self.rows)
        standing = Recognised.of(found, numbers[known], spikes)
        share = len(known) / np.count_nonzero(numbers != UNLABELLED)
        return replace(
            standing, accuracy=share * standing.accuracy, commonest=share * standing.commonest
        )

    def given_back(self, which: Any) -> Floats:
        """What an autoencoder makes of some rows, in [0, 1]."""
        return np.asarray(self.autoencoder._given_back(some_of(self.rows, which)))

    @property
    def input_shape(self) -> tuple[int, ...] | None:
        """If rows are images, that of the input neurons."""
        return input_shape(self.image_shape, self.model.scaling_)

    @property
    def inputs(self) -> list[str]:
        """Names of the input neurons."""
        numbered = [f"attribute {i + 1}" for i in range(self.shape[1])]
        return input_names(self.attributes or numbered, self.model.scaling_)

    @cached_property
    def codes(self) -> Floats:
        """Of all rows."""
        return np.asarray(self.model.transform(self.rows))

    @cached_property
    def simulation(self) -> Simulation:
        """Of one row, as long as in the paper."""
        network = self.model.to_network()
        result = network.simulate(self._arrivals, events=EVENTS_SHOWN[-1], random_state=self.seed)
        if result.interrupted:
            raise KeyboardInterrupt  # half a simulation is no result
        return result

    @cached_property
    def recorded(self) -> Simulation:
        """A short piece of the steady state in which spikes of some neurons are recorded."""
        network, counts = self.model.to_network(), self.simulation.firing_counts
        chosen = self.shown_neurons
        spikes = counts[chosen].sum() / self.simulation.time
        time = RASTER_SPIKES / spikes if spikes > 0 else 1.0
        with warnings.catch_warnings():  # it is too short to estimate anything, and nobody does
            warnings.simplefilter("ignore")
            return network.simulate(
                self._arrivals, time=time, start="stationary", record=chosen, random_state=self.seed
            )

    @cached_property
    def shown_neurons(self) -> NDArray[np.int64]:
        """The busiest neurons of each layer, in the order of the layers."""
        sizes = self.simulation.network.layer_sizes or ()
        share = RASTER_NEURONS // len(sizes)
        counts = self.simulation.firing_counts
        chosen, first = [], 0
        for size in sizes:
            busiest = np.argsort(-counts[first : first + size], kind="stable")[:share]
            chosen.append(first + np.sort(busiest))
            first += size
        return np.concatenate(chosen)

    @cached_property
    def shown_row(self) -> int:
        """The row that is presented to the spiking network."""
        if self.row is not None:
            return self.row
        rows = range(self.shape[0])
        return next((i for i in rows if self.cells(slice(i, i + 1)).max() > 0), 0)

    @property
    def row_number(self) -> int:
        """The number of that row in its file."""
        return self.number_in_file(self.shown_row)

    def number_in_file(self, number: int) -> int:
        """The number of a row in its file, from 1; rows that were left out count, too."""
        ledger = self.rows.ledger
        return (number if ledger is None else ledger.origin(Place(number)).row or 0) + 1

    @property
    def _arrivals(self) -> Floats:
        return np.asarray(self.model.arrivals(some_of(self.rows, [self.shown_row]))[0])
