"""The autoencoders of the paper's section 4: one table."""

from dataclasses import dataclass
from itertools import pairwise

from lrnn.datasets import DATA_SETS, hidden_width


@dataclass(frozen=True)
class Structure:
    """An autoencoder of the paper.

    Attributes
    ----------
    data : str
        The data set's name.
    hidden : tuple of int
        Widths of its encoding layers.
    figure : str
        Where the paper shows it: "2a", "2b", "2c" or "3".
    batch_size : int
        Rows in a minibatch.
    passes : int
        Of the printed algorithm over the data. (The paper does not say how many it makes.)
    passes_unit : int
        Most passes of our solver if all rates are 1.
    fine_tune : int
        Passes with which our solver ends.
    paper : float or None
        The lowest error that the paper reports.
    remark : str
        Why our numbers may differ from it.
    """

    data: str
    hidden: tuple[int, ...]
    figure: str
    batch_size: int
    passes: int
    passes_unit: int
    fine_tune: int
    paper: float | None = None
    remark: str = ""

    @property
    def name(self) -> str:
        """Such as ``mnist-100`` or ``mnist-1000-500-250-50``."""
        return "-".join((self.data, *map(str, self.hidden)))

    @property
    def label(self) -> str:
        """Such as ``784→100``."""
        return "→".join(map(str, (DATA_SETS[self.data].attributes, *self.hidden)))

    @property
    def n_weights(self) -> int:
        """Of all its layers, there and back."""
        sizes = (DATA_SETS[self.data].attributes, *self.hidden)
        return 2 * sum(a * b for a, b in pairwise(sizes))

    @property
    def cheap(self) -> bool:
        """Whether several seeds are affordable."""
        return DATA_SETS[self.data].rows * DATA_SETS[self.data].attributes < 1e6


LONGER = (
    "the paper says neither how long it trains nor how it draws its first weights; our solver "
    "works on all rows at once and goes on until the error stalls"
)
IMAGES = (
    Structure("mnist", (100,), "2a", 100, 10, 30, 10),
    Structure("mnist", (50,), "2a", 100, 10, 30, 10, 0.0204, LONGER),
    Structure("mnist", (1000, 500, 250, 50), "2a", 100, 8, 30, 5, 0.0190, LONGER),
    Structure("yale", (50,), "2b", 5, 60, 200, 60),
    Structure("yale", (500, 100, 50), "2b", 5, 40, 200, 20),
    Structure("cifar10", (150,), "2c", 100, 10, 10, 2, 0.0082, LONGER),
    Structure("cifar10", (1000, 500, 150), "2c", 100, 4, 10, 0, 0.0082, LONGER),
)
UCI = tuple(
    Structure(entry.name, (hidden_width(entry.attributes),), "3", 50, 200, 200, 100)
    for entry in DATA_SETS.values()
    if entry.image_shape is None
)
STRUCTURES: dict[str, Structure] = {s.name: s for s in (*IMAGES, *UCI)}
"""All of them, by name."""
