"""Who is compared where inhibition is the question: a table."""

from dataclasses import dataclass

MODEST = 0.014  # spends about four times the spikes of the excitatory network on MNIST
AMPLE = 0.0021  # about fifty times as many


@dataclass(frozen=True)
class Contender:
    """One way to give back 50 numbers' worth of an image.

    Attributes
    ----------
    title : str
        What it is called in tables.
    network : bool
        Whether it is a random neural network, and not PCA.
    share : float or None
        What a spike costs a network with inhibition: this share of the excitatory network's error
        per spike. 0: nothing. None: there is no inhibition.
    passes : int
        Of training end to end over the data; 0: as many as are good.
    simulated : bool
        Whether it is simulated, spike by spike.
    clipped : bool
        Whether what PCA gives back is clipped to [0, 1].
    """

    title: str
    network: bool = True
    share: float | None = None
    passes: int = 0
    simulated: bool = False
    clipped: bool = False


CONTENDERS: dict[str, Contender] = {
    "excitatory": Contender("excitatory", passes=10),
    "modest": Contender("inhibition, modest", share=MODEST, simulated=True),
    "ample": Contender("inhibition, ample", share=AMPLE, simulated=True),
    "free": Contender("inhibition, free", share=0.0),
    "pca": Contender("PCA", network=False),
    "pca-clipped": Contender("PCA, clipped to [0, 1]", network=False, clipped=True),
}
"""All of them, by the name of their task."""
