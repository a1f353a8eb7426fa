"""The 1 in the kernel, and scaling: test errors of (c + gamma x . y)^p with c = 0 and c = 1, by degree and by scaling.

One-vs-all kernel perceptrons with the average predictor, gamma = 1 / number of attributes, on small sets in repeated
cross-validation. Scaling is fitted on the training part of a fold. Repeat r has random_state r for the folds and for the
visiting orders.
"""

from dataclasses import dataclass

import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from tqdm import tqdm

from kp import OneVsAllKernelPerceptron
from study import datasets
from study.protocols.settings import BaseSettings
from study.results.experiment import experiment

DATASETS = ("iris", "sonar", "wine", "seeds", "vowel", "winequality-red", "digits")
"""The sets whose results are stored."""
BUNDLED = ("iris-bundled", "wine-bundled")
RAW = "raw"
UNIT = "in [0, 1]"
STANDARD = "standardised"
SCALERS = {RAW: FunctionTransformer, UNIT: MinMaxScaler, STANDARD: StandardScaler}
DEGREES = (1, 2, 3, 4, 5, 6)
"""Degrees of the stored results."""
CONSTANTS = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Settings(BaseSettings):
    """A dataset, how often it is cut into folds, and the degrees. Raises ValueError for other sets or numbers."""

    dataset: str
    n_repeats: int = 5
    n_folds: int = 10
    max_iter: int = 10
    degrees: tuple[int, ...] = DEGREES

    KNOWN = {"dataset": (*DATASETS, *BUNDLED)}


def settings(names=DATASETS, **options):
    """The parts of a study, one for each set."""
    return [Settings(dataset=name, **options) for name in names]


@experiment("questions", published=settings, data=lambda part: [part.dataset], sample=Settings(dataset="iris", n_repeats=1))
def kernels(part, *, progress=False):
    """A row for each scaling, constant, degree, repeat and fold: errors and n, those of the test part."""
    X, y = datasets.load_whole(part.dataset)
    rows = []
    for repeat in tqdm(range(part.n_repeats), desc=part.dataset, disable=not progress):
        folds = StratifiedKFold(part.n_folds, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            for scaling, constant, degree in candidates(part.degrees):
                perceptron = OneVsAllKernelPerceptron(
                    degree=degree, gamma=1 / X.shape[1], coef0=constant, max_iter=part.max_iter, predictor="average",
                    random_state=repeat, n_jobs=1,
                )  # fmt: skip
                model = make_pipeline(SCALERS[scaling](), perceptron).fit(X[train], y[train])
                errors = int((model.predict(X[test]) != y[test]).sum())
                rows.append((part.dataset, scaling, constant, degree, repeat, fold, errors, len(test)))
    return pd.DataFrame(rows, columns=["dataset", "scaling", "constant", "degree", "repeat", "fold", "errors", "n"])


def candidates(degrees):
    """All (scaling, constant, degree)."""
    return [(scaling, constant, degree) for scaling in SCALERS for constant in CONSTANTS for degree in degrees]
