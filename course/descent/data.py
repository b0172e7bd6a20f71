"""Real data that installed packages ship. Nothing is downloaded."""

from functools import cache
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


def patients() -> Table:
    """The 442 patients of `diabetes` as the clinic measured them, 10 features -> disease progression (score).

    age (years), sex (1, 2), bmi (kg/m²), bp mean blood pressure (mm Hg), s1 to s6 blood serum values.
    Source: Efron et al., Least Angle Regression (2004), scikit-learn's load_diabetes(scaled=False).
    """
    raw = _measured_patients()
    return Table(
        raw.data.copy(),  # whoever changes it changes nobody else's
        raw.target.copy(),
        list(raw.feature_names),
        "disease progression after one year (score)",
    )


@cache
def _measured_patients():
    """Read from the disk once: checks ask for them thousands of times."""
    from sklearn.datasets import load_diabetes

    return load_diabetes(scaled=False)


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


def manual() -> str:
    """104 paragraphs of Python's manual, one a line, 27,000 characters: the same for every Python.

    Prose from the pages on truth values, loops, names, objects, functions and others, with plain quotes and dashes.
    Source: pydoc_data.topics of Python 3.11. Copyright (c) Python Software Foundation; PSF License Version 2.
    """
    from importlib import resources

    return resources.files("descent").joinpath("manual.txt").read_text(encoding="utf-8")


class Sprint(NamedTuple):
    """Olympic 100 m winners, rows of (year, seconds): `men` and `women` to 2004, `later_…` since 2008."""

    men: np.ndarray
    women: np.ndarray
    later_men: np.ndarray
    later_women: np.ndarray


def sprint() -> Sprint:
    """Winning times of the Olympic 100 m finals: men (25, 2) from 1896, women (18, 2) from 1928, to 2004;
    later_men and later_women (5, 2): 2008 to 2024. Each row holds the year of the race and seconds.

    Hand-timed to a tenth up to 1964, electronic to a hundredth from 1968. Official times as accepted at the end
    of 2004 (the women's winner of 2000 was disqualified in 2007); the Games of 2020 were run in 2021; those of
    1906 are not counted. Source: the official Olympic results, entered by hand; men to 2012 agree with the table
    `sprint` of Bokeh's sample data, women from 1968 to 1996 with Athletics Weekly's list of the finals (2020).
    Men from 1900 and women give the R² (0.882, 0.789) and the forecasts for 2156 (8.098 s, 8.079 s) of Tatem and
    others, Momentous sprint at the 2156 Olympics?, Nature 431, 525 (2004).
    """
    men = """1896 12.0  1900 11.0  1904 11.0  1908 10.8  1912 10.8  1920 10.8  1924 10.6  1928 10.8
        1932 10.3  1936 10.3  1948 10.3  1952 10.4  1956 10.5  1960 10.2  1964 10.0  1968 9.95  1972 10.14
        1976 10.06  1980 10.25  1984 9.99  1988 9.92  1992 9.96  1996 9.84  2000 9.87  2004 9.85"""
    women = """1928 12.2  1932 11.9  1936 11.5  1948 11.9  1952 11.5  1956 11.5  1960 11.0  1964 11.4
        1968 11.08  1972 11.07  1976 11.08  1980 11.06  1984 10.97  1988 10.54  1992 10.82  1996 10.94
        2000 10.75  2004 10.93"""
    later_men = "2008 9.69  2012 9.63  2016 9.81  2021 9.80  2024 9.79"
    later_women = "2008 10.78  2012 10.75  2016 10.71  2021 10.61  2024 10.72"
    tables = (men, women, later_men, later_women)
    return Sprint(*(np.array(table.split(), float).reshape(-1, 2) for table in tables))
