"""Baselines of the repeated cross-validations: an SVM on the same folds, and a set in its own two parts.

Source of the published numbers: Xu & Zhang 2005, Table I. The folds are those of study.tables.protocol.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from study import datasets
from study.tables.protocol import Fold, baselines, in_parallel, load, run

RIVAL = "support vector machine, RBF"
"""The one of the `protocol.baselines` against which tests are made, declared before they were."""


def rival(jobs, *, n_folds=10, threads=2, progress=False):
    """Test errors of the RIVAL; jobs are (dataset, repeat). Columns dataset, repeat, fold, test_errors, n_test."""
    rows = in_parallel(lambda job: _rival_rows(job, n_folds), jobs, threads=threads, progress=progress)
    return pd.DataFrame(
        [row for part in rows for row in part], columns=["dataset", "repeat", "fold", "test_errors", "n_test"]
    )


def _rival_rows(job, n_folds):
    dataset, repeat = job
    X, y = load(dataset)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=repeat).split(X, y)
    model = baselines(repeat)[RIVAL]
    return [
        (dataset, repeat, i, int((model.fit(X[a], y[a]).predict(X[b]) != y[b]).sum()), len(b))
        for i, (a, b) in enumerate(folds)
    ]


def two_parts(jobs, *, threads=2, progress=False):
    """Learn the first part of a set that comes in two, and count errors on both; jobs are (dataset, Method, repeat).

    In the vowel set the second part has other speakers. Columns dataset, kernel, parameter, repeat, train_errors, n_train,
    test_errors, n_test; no row for sets that come in one part. repeat is the random_state of the visiting orders.
    """
    names = ["dataset", "kernel", "parameter", "repeat", "train_errors", "n_train", "test_errors", "n_test"]
    jobs = [job for job in jobs if datasets.load(job[0]).X_test is not None]
    return pd.DataFrame(in_parallel(_two_parts_row, jobs, threads=threads, progress=progress), columns=names)


def _two_parts_row(job):
    dataset, method, repeat = job
    X, y = load(dataset)
    n = len(datasets.load(dataset).X)
    train = np.arange(n)
    test = np.arange(n, len(X))
    [(_, train_errors, test_errors, *_)] = run(Fold(X, y, train, test, method), repeat, limits=[method.max_iter])
    return dataset, method.kernel, method.parameter, repeat, train_errors, n, test_errors, len(test)
