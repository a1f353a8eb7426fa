"""Forms of `MulticlassKernelPerceptron` on six sets, raw and standardized: the errors behind its defaults.

    python benchmarks/defaults.py

Digits, iris, wine and breast cancer of scikit-learn and two synthetic sets of the study, each in five stratified folds with
one order. The forms: both updates, three kernels with coef0=1 and ten epochs, the final and the average predictor; besides
that of Xu and Zhang 2005, with coef0=0, gamma=1 and up to 1,000 epochs. It prints two tables: the lowest error of
each set beside those of the default and of the source's form; by how much each form is above the lowest, on average and at
most.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kp import MulticlassKernelPerceptron
from study import datasets

SEED = 0
LOADERS = {"digits": load_digits, "iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
SYNTHETIC = ("moons", "five-classes")
KERNELS = {
    "poly, gamma=1": {"gamma": 1.0},
    "poly, gamma=scale": {"gamma": "scale"},
    "rbf, gamma=scale": {"kernel": "rbf", "gamma": "scale"},
}
PREDICTORS = ("final", "average")
DEFAULT = "ordinary, poly, gamma=scale, average"
SOURCE = "source: xu-zhang, poly, gamma=1, coef0=0, 1,000 epochs, final"


def sets():
    """{name: (X, y)}, each raw and standardized."""
    found = {name: load(return_X_y=True) for name, load in LOADERS.items()}
    for name in SYNTHETIC:
        data = datasets.load(name, random_state=SEED)
        found[name] = data.X, data.y
    return found | {f"{name}, standardized": (StandardScaler().fit_transform(X), y) for name, (X, y) in found.items()}


def errors(X, y):
    """{form: error over five folds}."""
    common = {"count_errors": False, "random_state": SEED}
    models = {
        f"{update}, {kernel}": MulticlassKernelPerceptron(update=update, **options, **common)
        for update in ("ordinary", "xu-zhang")
        for kernel, options in KERNELS.items()
    }
    source = MulticlassKernelPerceptron(update="xu-zhang", gamma=1.0, coef0=0.0, max_iter=1000, **common)
    wrong = {}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=SEED).split(X, y):
        for name, model in models.items():
            model.fit(X[train], y[train])
            for predictor in PREDICTORS:
                form = f"{name}, {predictor}"
                wrong[form] = wrong.get(form, 0) + np.sum(model.predict(X[test], predictor=predictor) != y[test])
        found = source.fit(X[train], y[train]).predict(X[test], predictor="final")
        wrong[SOURCE] = wrong.get(SOURCE, 0) + np.sum(found != y[test])
    return {form: 100 * count / len(y) for form, count in wrong.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table = pd.DataFrame({name: errors(X, y) for name, (X, y) in sets().items()})
    lowest = table.min()
    shown = pd.DataFrame({"lowest": lowest, "default": table.loc[DEFAULT], "source's form": table.loc[SOURCE]})
    print(shown.to_string(float_format="%.1f"))
    above = (table - lowest).agg(["mean", "max"], axis=1).sort_values("mean")
    print("\n" + above.to_string(float_format="%.1f"))
