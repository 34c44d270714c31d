"""Which patients are unlike the others, and why
=============================================

    python examples/strange_patients.py [FIGURE]

Nuclei of cells, 30 measures of each sample (scikit-learn's breast cancer data). A detector is shown
benign samples alone, and knows nothing of cancer. It then judges other benign samples, and
malignant ones, and tells of each what makes it strange and what was expected instead.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from lrnn import LRNNOutlierDetector, plots


def main(figure_path="strange_patients.png"):
    """Learn what is benign, judge others, and read explanations."""
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    known, new = benign[:250], benign[250:]

    # Raw numbers, in their own units: they are scaled, and a width is chosen for the network.
    model = LRNNOutlierDetector(random_state=0).fit(known)
    names = [str(name) for name in data.feature_names]

    # About 5 % of benign samples are to be called outliers, whatever malignant ones are like.
    alarms, found = ((model.predict(X) == -1).mean() for X in (new, malignant))
    print(f"{100 * alarms:.1f} % of {len(new)} new benign samples are called outliers,")
    print(f"and {100 * found:.1f} % of {len(malignant)} malignant ones")
    scores = model.score_samples(np.concatenate([new, malignant]))
    truth = np.repeat([1, 0], [len(new), len(malignant)])
    print(f"area under the ROC curve: {roc_auc_score(truth, scores):.3f}\n")

    # Strangeness is a sum over attributes. What is printed of the strangest sample, read aloud:
    # "The area of its nuclei has a standard error of 542. Benign samples that are most like it, and
    # what the network gives back, let us expect about 50; that alone is a fifth of all that is
    # strange about it. Its perimeter errs too much, too, and its worst area is too large."
    strangest = int(np.argmin(model.score_samples(malignant)))
    # A malignant sample in the middle is strange in many attributes, in each of them by a little.
    middle = int(np.argsort(model.score_samples(malignant))[len(malignant) // 2])
    # The strangest benign one is so by its smoothness: a measurement that may be looked at again.
    odd = int(np.argmin(model.score_samples(new)))
    why = model.explain(np.stack([malignant[strangest], malignant[middle], new[odd]]))
    for row, kind in enumerate(("strangest malignant", "a malignant one", "strangest benign")):
        print(f"{kind}: strangeness {why.strangeness[row]:.3g}, p-value {why.p_values[row]:.2g}")
        for i in why.strongest(row):
            is_, expected = why.values[i][row], why.expected[i][row]
            share = 100 * why.share(row, i)
            print(f"    {names[i]} is {is_:.4g}, expected {expected:.4g}: {share:.0f} %")
        # What the attributes count sums to the strangeness, to rounding.
        assert np.isclose(why.contributions[row].sum(), why.strangeness[row])

    figure = Figure(figsize=(5.2, 3.2), dpi=150, layout="constrained")
    ax = plots.strangeness(model, malignant, ax=figure.add_subplot())
    ax.set_title("malignant samples beside benign ones that were held out", fontsize=8, pad=26)
    figure.savefig(figure_path)
    print(f"how strange they are: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
