"""The data sets: the paper's 19, and scikit-learn's digits. One table, no scripts.

``iris`` and ``wine`` are read from their UCI files where these are found, and otherwise from the
copies that scikit-learn brings along, with the three cells of iris that differ set to what the
UCI file has. So their numbers are the same with and without a download.
"""

from difflib import get_close_matches

from lrnn.datasets.dataset import DataSet
from lrnn.datasets.image_sets import IMAGE_SETS
from lrnn.datasets.uci_sets import UCI_SETS

DATA_SETS: dict[str, DataSet] = {entry.name: entry for entry in (*IMAGE_SETS, *UCI_SETS)}
NAMES = tuple(DATA_SETS)


def find(name: str) -> DataSet:
    """The data set of that name.

    Parameters
    ----------
    name : str
        Such as "mnist"; ``lrnn data list`` has them all.

    Returns
    -------
    found : DataSet
        What is known of it.

    Examples
    --------
    >>> find("mnits")
    Traceback (most recent call last):
    ...
    ValueError: there is no data set 'mnits'; did you mean 'mnist'? Known are mnist, yale, ...
    """
    if name not in DATA_SETS:
        raise ValueError(unknown(name))
    return DATA_SETS[name]


def unknown(name: str) -> str:
    """What is to be said of a name that no data set has."""
    alike = get_close_matches(str(name).lower().replace("-", "_"), DATA_SETS, n=1)
    meant = f"did you mean {alike[0]!r}? " if alike else ""
    return f"there is no data set {name!r}; {meant}Known are {', '.join(DATA_SETS)}"
