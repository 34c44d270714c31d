"""Codes as attributes for a classifier, in a scikit-learn pipeline
================================================================

    python examples/classifier_pipeline.py [FIGURE]

A logistic regression tells digits apart by their 64 pixels. Can it do so by fewer numbers, learnt
without any label? Here they come from an `LRNNAutoencoder`, which is a transformer like any other:
it goes into a pipeline, is trained anew on each training fold (so that nothing of the
test fold leaks into it), and a grid search chooses how many code neurons to take. PCA is in the
same place for comparison; its components are the best for linear reconstruction, but
they have signs, while codes are all from 0 to 1: how much there is of each part.
"""

import sys

from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from lrnn import LRNNAutoencoder, plots

SIZES = (8, 16, 32)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def pipeline(features="passthrough"):
    """Scaler, features, classifier. Test rows beyond the training data's range are cut off."""
    return Pipeline(
        [
            ("scale", MinMaxScaler(clip=True)),
            ("features", features),
            ("classify", LogisticRegression(C=10, max_iter=2_000)),
        ]
    )


def search(features, parameter, values, X, y):
    """Cross-validated accuracy for each value of a parameter, and the best of them."""
    grid = GridSearchCV(pipeline(features), {f"features__{parameter}": values}, cv=FOLDS)
    return grid.fit(X, y)


def main(figure_path="classifier_pipeline.png"):
    """Compare raw attributes, codes and principal components."""
    X, y = load_digits(return_X_y=True)
    raw = cross_val_score(pipeline(), X, y, cv=FOLDS)
    print(f"all {X.shape[1]} pixels: accuracy {raw.mean():.3f} ± {raw.std():.3f}")
    autoencoder = LRNNAutoencoder(random_state=0)
    searches = {
        "codes": search(autoencoder, "hidden_layer_sizes", [(n,) for n in SIZES], X, y),
        "PCA": search(PCA(random_state=0), "n_components", SIZES, X, y),
    }
    for name, found in searches.items():
        scores = found.cv_results_["mean_test_score"]
        listed = ", ".join(f"{s:.3f} with {n}" for n, s in zip(SIZES, scores, strict=True))
        print(f"{name}: accuracy {listed}")

    best = searches["codes"].best_estimator_  # trained on all rows
    codes = best[:-1].transform(X)
    print(f"the best has {codes.shape[1]} code neurons; codes are from 0 to {codes.max():.3f}")

    # what theory promises: codes are probabilities
    assert codes.min() >= 0
    assert codes.max() <= 1

    figure = Figure(figsize=(9.5, 3), layout="constrained", dpi=150)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.3, 0.6, 1.2])
    left.axhline(raw.mean(), color="black", linestyle=":", label=f"all {X.shape[1]} pixels")
    for name, colour in (("codes", "#0072B2"), ("PCA", "#D55E00")):
        result = searches[name].cv_results_
        mean, spread = result["mean_test_score"], result["std_test_score"]
        left.errorbar(SIZES, mean, spread, color=colour, marker="o", markersize=3, label=name)
    left.set_xticks(SIZES)
    left.set_xlabel("code neurons or components", fontsize=8)
    left.set_ylabel("accuracy, 3-fold", fontsize=8)
    left.tick_params(labelsize=7)
    left.spines[["top", "right"]].set_visible(False)
    left.legend(fontsize=7, frameon=False)
    plots.parts(best["features"], shape=(8, 8), columns=4, ax=middle)
    plots.codes(codes, ax=right)
    figure.savefig(figure_path)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
