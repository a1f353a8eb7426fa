"""Baselines of the repeated cross-validations: other methods on the same folds, and a set in its own two parts.

Source of the published numbers: Xu & Zhang 2005, Table I. The folds are those of study.tables.protocol.
"""

from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from study import datasets
from study.tables.protocol import Fold, Shuffles, load, run, tabulated

RIVAL = "support vector machine, RBF"
"""The one of the `baselines` against which tests are made, declared before they were."""


def baselines(random_state, inner_folds=3):
    """{name: estimator}: classifiers with fixed parameters, or with parameters tuned by an inner cross-validation."""
    inner = StratifiedKFold(inner_folds, shuffle=True, random_state=random_state)
    widths = {"svc__C": [1, 10, 100], "svc__gamma": [0.1, 0.5, 2.0, 8.0]}
    neighbours = {"kneighborsclassifier__n_neighbors": [1, 3, 5, 7, 9, 15]}
    return {
        "support vector machine, RBF": GridSearchCV(make_pipeline(MinMaxScaler(), SVC()), widths, cv=inner),
        "nearest neighbours": GridSearchCV(make_pipeline(MinMaxScaler(), KNeighborsClassifier()), neighbours, cv=inner),
        "random forest": RandomForestClassifier(random_state=random_state),
        "decision tree": DecisionTreeClassifier(random_state=random_state),
        "Gaussian naive Bayes": GaussianNB(),
    }


def cross_validate(jobs, *, names=None, n_folds=10, threads=2, progress=False):
    """Test errors of the `baselines`, or of those of these names; jobs are (dataset, repeat). A row for each fold.

    Columns dataset, method, repeat, fold, test_errors, n_test.
    """
    columns = ["dataset", "method", "repeat", "fold", "test_errors", "n_test"]
    function = partial(_fold_rows, names=names, n_folds=n_folds)
    return tabulated(function, jobs, columns, threads=threads, progress=progress)


def _fold_rows(job, names, n_folds):
    dataset, repeat = job
    X, y = load(dataset)
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=repeat).split(X, y))
    models = baselines(repeat)
    return [
        (dataset, name, repeat, i, int((models[name].fit(X[a], y[a]).predict(X[b]) != y[b]).sum()), len(b))
        for name in names or models
        for i, (a, b) in enumerate(folds)
    ]


def two_parts(jobs, *, threads=2, progress=False):
    """Learn the first part of a set that comes in two, and count errors on the second; jobs are (dataset, Method, repeat).

    In the vowel set the second part has other speakers. Columns dataset, kernel, parameter, repeat, test_errors, n_test; no
    row for sets that come in one part. repeat is the random_state of the visiting orders.
    """
    columns = ["dataset", "kernel", "parameter", "repeat", "test_errors", "n_test"]
    jobs = [job for job in jobs if datasets.load(job[0]).X_test is not None]
    return tabulated(_two_parts_rows, jobs, columns, threads=threads, progress=progress)


def _two_parts_rows(job):
    dataset, method, repeat = job
    X, y = load(dataset)
    n = len(datasets.load(dataset).X)
    train = np.arange(n)
    test = np.arange(n, len(X))
    fold = Fold(X, y, train, test, method)
    [(_, _, test_errors, *_)] = run(fold, method, Shuffles(repeat), limits=[method.max_iter])
    return [(dataset, method.kernel, method.parameter, repeat, test_errors, len(test))]
