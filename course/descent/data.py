"""Real data that installed packages ship. Nothing is downloaded."""

from typing import NamedTuple

import numpy as np


class Table(NamedTuple):
    """X (n, d) features, y (n,) targets, names of the d features, unit of y in words."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]
    target: str


def diabetes() -> Table:
    """442 patients, 10 features -> disease progression after one year (25 to 346, a clinical score).

    Features are centred and scaled to unit length as Efron et al., Least Angle Regression (2004), published them.
    Source: scikit-learn's load_diabetes.
    """
    from sklearn.datasets import load_diabetes

    raw = load_diabetes()
    return Table(
        raw.data, raw.target, list(raw.feature_names), "disease progression after one year (score)"
    )


def breast_cancer() -> Table:
    """569 tumours, 30 measurements of cell nuclei -> 1 benign, 0 malignant.

    Lengths in the images' own unit, areas in its square.
    Source: Wolberg et al. (1995), scikit-learn's load_breast_cancer.
    """
    from sklearn.datasets import load_breast_cancer

    raw = load_breast_cancer()
    return Table(raw.data, raw.target, list(raw.feature_names), "1 benign, 0 malignant")


def iris() -> Table:
    """150 flowers, 4 lengths in cm -> species 0, 1, 2.

    Source: Anderson (1936), Fisher (1936), scikit-learn's load_iris.
    """
    from sklearn.datasets import load_iris

    raw = load_iris()
    return Table(
        raw.data,
        raw.target,
        list(raw.feature_names),
        "species (0 setosa, 1 versicolor, 2 virginica)",
    )


def wine() -> Table:
    """178 wines, 13 chemical measurements (mixed units) -> cultivar 0, 1, 2.

    Source: Forina et al., scikit-learn's load_wine.
    """
    from sklearn.datasets import load_wine

    raw = load_wine()
    return Table(raw.data, raw.target, list(raw.feature_names), "cultivar (0, 1, 2)")


def digits() -> Table:
    """1797 handwritten digits: X (1797, 64) grey values 0 to 16, row by row of 8 x 8 pixels, y the digit 0 to 9.

    Source: Alpaydin and Kaynak (1998), test part, scikit-learn's load_digits.
    """
    from sklearn.datasets import load_digits

    raw = load_digits()
    return Table(raw.data, raw.target, list(raw.feature_names), "digit (0 to 9)")


def documents() -> dict[str, str]:
    """Python's own manual pages by topic (some 80 texts of plain English): {"lambda": "…", …}.

    Source: pydoc_data.topics of the running Python, so their wording differs between Python versions.
    """
    from pydoc_data.topics import topics

    return dict(sorted(topics.items()))
