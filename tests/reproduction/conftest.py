import numpy as np
import pytest
from sklearn.utils import Bunch


@pytest.fixture(scope="session")
def small_mnist(digits):
    """Digits drawn as large as those of MNIST, and what loads 300 and 100 of them."""
    small = np.round(255 * digits).reshape(-1, 8, 8).repeat(3, axis=1).repeat(3, axis=2)
    images = np.pad(small, ((0, 0), (2, 2), (2, 2))).reshape(len(digits), 784).astype(np.uint8)

    def load(name, *, split="train", scaled=True):
        assert (name, scaled) == ("mnist", False)
        return Bunch(data=images[300:400] if split == "test" else images[:300])

    return images, load
