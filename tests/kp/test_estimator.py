"""What the estimators share: predictors after each epoch, models on shared data, copies of the data, and failed calls."""

from copy import copy
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kp import (
    PREDICTORS,
    BudgetPerceptron,
    DeltaRulePerceptron,
    MulticlassKernelPerceptron,
    MulticlassLog,
    MulticlassPerceptron,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
    predict_or_reject,
    predictors,
)
from kp.estimator import one_of
from kp.kernels import KERNELS
from kp.mistakes import BY_NAME, Predictor
from kp.shared import SharedTraining

WHOLE = np.round(10 * load_iris().data).astype(int)
"""Iris in millimetres: whole numbers, so that sums of kernel values are exact."""


def square(X, Y):
    return (1 + np.asarray(X, dtype=float) @ np.asarray(Y, dtype=float).T) ** 2


MODELS = {
    "one-vs-all": OneVsAllKernelPerceptron(degree=2, gamma=1),
    "one-vs-all, linear": OneVsAllKernelPerceptron("linear", count_errors=True),
    "one-vs-all, function": OneVsAllKernelPerceptron(square),
    "one-vs-all, precomputed": OneVsAllKernelPerceptron("precomputed"),
    "binary codes": OutputCodeKernelPerceptron(degree=2, gamma=1, code="binary", stop_if_consistent=False),
    "one-hot codes": OutputCodeKernelPerceptron(square, stop_if_consistent=False),
    "ordinary": MulticlassKernelPerceptron("poly", degree=2, gamma=1, update="ordinary"),
    "Xu-Zhang": MulticlassKernelPerceptron("poly", degree=2, gamma=1, coef0=0.0, update="xu-zhang"),
    "Xu-Zhang, Gaussian": MulticlassKernelPerceptron("rbf", gamma=1 / 128, update="xu-zhang", demote="all"),
    "Xu-Zhang, function": MulticlassKernelPerceptron(square, update="xu-zhang", threshold=False),
    "Xu-Zhang, precomputed": MulticlassKernelPerceptron("precomputed", update="xu-zhang"),
    "linear": MulticlassPerceptron(count_errors=True),
    "delta rule": DeltaRulePerceptron(code="binary", stop_if_consistent=False),
}


def fitted(name, n_classes):
    """(model, what to predict, y) on iris with labels "a", "b", "c"."""
    model = MODELS[name].set_params(max_iter=4, random_state=0)
    some = load_iris().target < n_classes
    X = WHOLE[some]
    y = np.array(["a", "b", "c"])[load_iris().target[some]]
    X = square(X, X) if model.kernel == "precomputed" else X
    return model.fit(X, y), X[::4], y


@pytest.mark.parametrize(("name", "n_classes"), [*((name, 3) for name in MODELS), ("one-vs-all", 2), ("Xu-Zhang", 2)])
def test_staged_scores_are_those_of_each_predictor_at_each_epoch_bit_for_bit(name, n_classes):
    model, X, _ = fitted(name, n_classes)
    assert model.n_iter_ >= 2
    together, labels = (
        list(stages(X, predictor="all")) for stages in (model.staged_decision_function, model.staged_predict)
    )
    assert len(together) == len(labels) == model.n_iter_
    for predictor in PREDICTORS:
        alone = list(model.staged_decision_function(X, predictor=predictor))
        for epoch in range(1, model.n_iter_ + 1):
            f = model.decision_function(X, predictor=predictor, epoch=epoch)
            np.testing.assert_array_equal(together[epoch - 1][predictor], f, err_msg=f"{predictor} at {epoch}")
            np.testing.assert_array_equal(alone[epoch - 1], f)
            np.testing.assert_array_equal(labels[epoch - 1][predictor], model.predict(X, predictor=predictor, epoch=epoch))


@pytest.mark.parametrize("name", ["one-vs-all", "binary codes", "Xu-Zhang", "linear"])
def test_staged_scores_do_not_depend_on_the_blocks_of_points(name, monkeypatch):
    model, X, _ = fitted(name, 3)
    whole = list(model.staged_decision_function(X, predictor="voted"))
    monkeypatch.setattr("kp.multiclass._POINTS", 7)
    monkeypatch.setattr(predictors, "_BLOCK_BYTES", 1)
    np.testing.assert_array_equal(list(model.staged_decision_function(X, predictor="voted")), whole)


def test_a_predictor_that_is_asked_for_twice_comes_once():
    model, X, _ = fitted("linear", 3)
    once, twice = (next(model.staged_predict(X, predictor=names)) for names in (["final"], ["final", "final"]))
    assert list(twice) == ["final"] and np.array_equal(twice["final"], once["final"])


def test_staged_predictors_of_streams_go_without_the_minimizing_one():
    X = WHOLE
    y = load_iris().target
    stream = OneVsAllKernelPerceptron(degree=2, gamma=1)
    with pytest.raises(ValueError, match="not fitted yet"):
        next(stream.staged_predict(X))
    for part in (slice(None, None, 2), slice(1, None, 2)):
        stream.partial_fit(X[part], y[part], classes=range(3))
    stages = list(stream.staged_predict(X, predictor="all"))
    assert len(stages) == 2 and list(stages[0]) == ["final", "average", "voted"]
    np.testing.assert_array_equal(stages[1]["average"], stream.predict(X, predictor="average"))
    for model in (stream, MulticlassPerceptron(max_iter=2, count_errors=False).fit(X, y)):
        with pytest.raises(ValueError, match="training errors of every predictor"):
            next(model.staged_predict(X, predictor="minimizing"))
        with pytest.raises(ValueError, match=f"predictor must be one of {', '.join(BY_NAME)}, got 'best'"):
            next(model.staged_predict(X, predictor="best"))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "delta rule"])
def test_a_model_made_from_its_mistakes_predicts_the_same(name):
    model, X, y = fitted(name, 3)
    seen = square(WHOLE, WHOLE) if model.kernel == "precomputed" else WHOLE
    again = type(model)(**model.get_params()).with_mistakes(seen, y, model.mistakes_)
    for predictor in PREDICTORS:
        expected = model.decision_function(X, predictor=predictor)
        np.testing.assert_array_equal(again.decision_function(X, predictor=predictor), expected)
    for attribute in {"n_iter_", "converged_"} & set(vars(model)):
        assert vars(again)[attribute] == vars(model)[attribute]


@pytest.mark.parametrize("model", [OneVsAllKernelPerceptron(max_iter=3), MulticlassPerceptron()])
def test_mistakes_on_other_data_are_refused(model):
    X = WHOLE
    y = load_iris().target
    mistakes = model.fit(X, y).mistakes_
    seen = vars(model).copy()
    for n, labels, others, message in (
        (150, y, [], "mistakes must be a"),
        (60, y[:60], mistakes, "take the mistakes_ of a fit with the same parameters on the same X, y"),
        (150, np.roll(y, 50), mistakes, "take the mistakes_ of a fit with the same parameters on the same X, y"),
    ):
        with pytest.raises(ValueError, match=message):
            model.with_mistakes(X[:n], labels, others)
    assert vars(model) == seen
    log = mistakes[0]
    for change, message in (
        ({"example": log.example + 150}, r"examples of a log must be among the 150 of X, got \d+ to \d+"),
        ({"step": log.step[::-1]}, "steps of a log must ascend"),
        ({"ends": np.array([1])}, "steps of a log must ascend"),
        ({"ends": np.repeat(log.ends, 2)}, "steps of a log must ascend"),
        ({"step": np.zeros_like(log.step)}, "a step of a log must have one example, got several"),
        ({"step": log.step.astype(float)}, "arrays, example, step, .* of integers, got .*float64"),
        ({"example": log.example.tolist()}, "arrays, example, step, .* of integers, got .*list"),
        ({"step": log.step[:-1]}, "columns of one length"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(log, **change).check(150)
    if isinstance(log, MulticlassLog):
        none = np.full_like(log.promoted, -1)
        for change in ({"demoted": log.promoted}, {"promoted": none}, {"demoted": log.demoted + 3}):
            with pytest.raises(ValueError, match="promote the class of an example and demote others of 3"):
                model.with_mistakes(X, y, [replace(log, **change)])
    else:
        with pytest.raises(ValueError, match="logs of one fit must have the same ends of epochs, got different ones"):
            model.with_mistakes(X, y, [replace(log, ends=log.ends + 1), *mistakes[1:]])
    columns = [name for name, column in vars(log).items() if name != "ends" and column is not None]
    empty = [replace(each, **{name: getattr(each, name)[:0] for name in columns}) for each in mistakes]
    with pytest.raises(ValueError, match="a log must contain a mistake"):
        model.with_mistakes(X, y, empty)


def test_a_log_of_the_delta_rule_makes_no_model():
    model = DeltaRulePerceptron().fit(WHOLE, load_iris().target)
    with pytest.raises(TypeError, match="logs of the delta rule lack the initial weights"):
        model.with_mistakes(WHOLE, load_iris().target, model.mistakes_)


# Several models on one training set.


def degrees():
    options = {"max_iter": 4, "stop_if_separated": False, "count_errors": True}
    return [OneVsAllKernelPerceptron(degree=degree, gamma=1, random_state=degree, **options) for degree in (1, 2, 3)]


GRIDS = {
    "pixels": lambda X: X, "in units of 1/255": lambda X: 15 * X / 255, "in units of 1/16": lambda X: X / 16,
    "no grid": lambda X: np.sin(X),
}  # fmt: skip


@pytest.mark.parametrize("rows", [1, 10**6])
@pytest.mark.parametrize("grid", GRIDS)
def test_models_on_shared_data_are_those_that_were_fitted_alone(rows, grid):
    X, y = load_digits(return_X_y=True)
    X = GRIDS[grid](X[:300])
    y = y[:300].astype(str)
    together = SharedTraining(X, y, memory_budget=8 * 300 * rows).fit(degrees())
    for a, b in zip(together, [model.fit(X, y) for model in degrees()], strict=True):
        for log, other in zip(a.mistakes_, b.mistakes_, strict=True):
            for name in ("example", "step", "sign", "errors", "ends"):
                np.testing.assert_array_equal(getattr(log, name), getattr(other, name))
        np.testing.assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("count_errors", [True, False])
@pytest.mark.parametrize("grid", ["pixels", "in units of 1/255", "sparse"])
def test_each_predictor_of_models_on_shared_data_comes_once_for_each_point(count_errors, grid):
    X, y = load_digits(return_X_y=True)
    X = sparse.csr_array(X) if grid == "sparse" else GRIDS[grid](X)
    others = X[300:420]
    X = X[:300]
    y = y[:300]
    shared = SharedTraining(X, y, memory_budget=8 * 300 * 20)
    models = shared.fit(degrees(), count_errors=count_errors)
    assert (models[0].mistakes_[0].errors is None) != count_errors
    for points in (None, others):  # the walk over the training set counts the errors
        seen = X if points is None else points
        found = {key: np.full((4, 10, seen.shape[0]), np.nan) for key in np.ndindex(len(models), len(PREDICTORS))}
        for part, outputs in shared.staged_outputs(models, points):
            for i, scores in enumerate(outputs):
                for predictor, f in scores.items():
                    target = found[i, PREDICTORS.index(predictor)][..., part]
                    assert np.isnan(target).all()
                    target[:] = f
        for i, model in enumerate(models):
            for p, predictor in enumerate(PREDICTORS):
                for epoch in (1, 4):
                    expected = model.outputs(seen, predictor=predictor, epoch=epoch)
                    if grid == "in units of 1/255":
                        np.testing.assert_allclose(found[i, p][epoch - 1].T, expected, rtol=1e-9, atol=1e-9)
                    else:
                        np.testing.assert_array_equal(found[i, p][epoch - 1].T, expected)


def test_models_that_cannot_share_are_refused():
    X, y = load_iris(return_X_y=True)
    shared = SharedTraining(X, y)
    with pytest.raises(ValueError, match=r"same max_iter, got \[1, 2\]"):
        shared.fit([OneVsAllKernelPerceptron(max_iter=epochs, stop_if_separated=False) for epochs in (1, 2)])
    with pytest.raises(ValueError, match="stop_if_separated=False"):
        shared.fit([OneVsAllKernelPerceptron()])
    models = [OneVsAllKernelPerceptron(max_iter=epochs).fit(X, y) for epochs in (1, 2)]
    with pytest.raises(ValueError, match="equally many epochs"):
        next(shared.staged_outputs(models))
    with pytest.raises(ValueError, match="models must be OneVsAllKernelPerceptrons or Rommas, got OutputCode"):
        shared.fit([OutputCodeKernelPerceptron()])
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, got 'a'"):
        SharedTraining(X, y, n_jobs="a")
    with pytest.raises(NotFittedError):
        next(shared.staged_outputs([OneVsAllKernelPerceptron()]))
    assert list(shared.staged_outputs([])) == []
    one = shared.fit([OneVsAllKernelPerceptron(stop_if_separated=False)])
    with pytest.raises(ValueError, match="the same number of features, got 4 and 3"):
        next(shared.staged_outputs(one, X[:, :3]))
    with pytest.raises(ValueError, match="kernels of inner products, which they share, got 'precomputed'"):
        shared.fit([OneVsAllKernelPerceptron("precomputed", stop_if_separated=False)])


# Data that change afterwards, and calls that fail.


@pytest.mark.parametrize("make", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, BudgetPerceptron])
def test_a_refused_first_part_of_a_stream_leaves_nothing_behind(make):
    X, y = load_iris(return_X_y=True)
    model = make()
    for options, labels in (({}, y), ({"gamma": np.nan, "kernel": "rbf"}, np.minimum(y, 1))):
        with pytest.raises(ValueError, match="among the classes|gamma must be"):
            model.set_params(**options).partial_fit(X, labels, classes=[0, 1])
    model.set_params(kernel="linear", gamma="scale").partial_fit(X, y, classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2] and model.n_seen_ == 150


# The reject option.


def leads(f):
    """The literal margins of scores (n, C) or (n,)."""
    return [abs(row) if np.ndim(row) == 0 else sorted(row)[-1] - sorted(row)[-2] for row in f.tolist()]


@pytest.mark.parametrize(("name", "n_classes"), [("one-vs-all", 2), ("one-vs-all", 3), ("binary codes", 3), ("linear", 3)])
def test_what_is_refused_are_the_points_of_a_smaller_margin(name, n_classes):
    model, X, _ = fitted(name, n_classes)
    for options in ({}, {"predictor": "average", "epoch": 1}):
        margin = np.array(leads(model.decision_function(X, **options)))
        labels = model.predict(X, **options)
        least = float(np.sort(margin)[len(X) // 3])
        found = predict_or_reject(model, X, min_margin=least, rejected="none of these", **options)
        assert found.tolist() == np.where(margin < least, "none of these", labels).tolist()
        np.testing.assert_array_equal(model.predict(X, min_margin=least, rejected="none of these", **options), found)


def test_the_label_of_what_is_refused_may_leave_the_type_of_the_labels_and_models_of_scikit_learn_are_taken():
    X = WHOLE
    y = load_iris().target.astype(np.uint8)
    for model in (OneVsAllKernelPerceptron(random_state=0).fit(X, y), LogisticRegression(max_iter=1000).fit(X, y)):
        found = predict_or_reject(model, X, min_margin=np.median(leads(model.decision_function(X))))
        assert np.mean(found == -1) == 0.5
        np.testing.assert_array_equal(found[found >= 0], model.predict(X)[found >= 0])


def test_models_of_several_labels_have_no_label_of_rejected_points():
    X, y = load_iris(return_X_y=True)
    model = MultiOutputClassifier(LogisticRegression(max_iter=1000)).fit(X, np.column_stack([y, y > 0]))
    with pytest.raises(ValueError, match="needs one label for each point, got MultiOutputClassifier with several"):
        predict_or_reject(model, X, min_margin=0)


@pytest.mark.parametrize("break_ties", [True, False])
def test_what_is_not_refused_has_the_label_that_the_classifier_itself_gives(break_ties):
    X, y = load_digits(return_X_y=True)
    model = SVC(break_ties=break_ties).fit(X[:300], y[:300])
    labels = model.predict(X[300:])
    assert (labels == model.classes_[model.decision_function(X[300:]).argmax(axis=1)]).all() == break_ties
    np.testing.assert_array_equal(predict_or_reject(model, X[300:], min_margin=0), labels)


@pytest.mark.parametrize(
    "wrapped", [lambda svm: svm, lambda svm: make_pipeline(StandardScaler(), svm), lambda svm: GridSearchCV(svm, {"C": [1]})]
)
def test_scores_of_pairs_of_classes_are_no_margins(wrapped):
    X, y = load_iris(return_X_y=True)
    model = wrapped(SVC(decision_function_shape="ovo")).fit(X, y)
    with pytest.raises(ValueError, match="a score for each class, .* set decision_function_shape='ovr'"):
        predict_or_reject(model, X, min_margin=0)


@pytest.mark.parametrize("wrong", [-1, "1"])
def test_a_threshold_that_makes_no_sense_is_refused(wrong):
    model, X, _ = fitted("one-vs-all", 3)
    with pytest.raises(ValueError, match=f"min_margin must be a number of at least 0, got {wrong!r}"):
        predict_or_reject(model, X, min_margin=wrong)


@pytest.mark.parametrize("name", MODELS)
def test_a_predictor_is_one_object_that_all_estimators_know(name, monkeypatch):
    every_second = Predictor(weights=lambda log, epoch: np.arange(log.length(epoch)) % 2)
    monkeypatch.setitem(BY_NAME, "every second", every_second)
    model, X_new, _ = fitted(name, 3)
    logs = model.mistakes_
    columns = [field.name for field in fields(logs[0]) if field.name not in ("ends", "errors")]
    halves = [replace(log, errors=None, **{each: getattr(log, each)[1::2] for each in columns}) for log in logs]
    staged = list(model.staged_decision_function(X_new, predictor="every second"))
    thinned = copy(model)
    thinned.mistakes_ = halves
    for epoch, found in enumerate(staged, start=1):
        np.testing.assert_allclose(found, thinned.decision_function(X_new, predictor="final", epoch=epoch), rtol=1e-12)


def test_shared_training_refuses_a_predictor_that_its_walk_does_not_read_and_goes_on_with_others(monkeypatch):
    every_second = Predictor(weights=lambda log, epoch: np.arange(log.length(epoch)) % 2)
    monkeypatch.setitem(BY_NAME, "every second", every_second)
    training = SharedTraining(WHOLE, load_iris().target)
    model = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=2, stop_if_separated=False)
    assert [set(outputs) for _, (outputs,) in training.staged_outputs(training.fit([model]))] == [set(PREDICTORS)]
    monkeypatch.setitem(OneVsAllKernelPerceptron._parameters, "predictor", one_of(*BY_NAME))
    training.fit([model.set_params(predictor="every second")])
    with pytest.raises(ValueError, match="staged outputs are those of final, average, minimizing, voted, got a model with"):
        next(training.staged_outputs([model]))


@pytest.mark.parametrize("learner", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, MulticlassKernelPerceptron])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_one_object_that_all_estimators_know_and_its_function_and_matrix_give_the_same(name, learner):
    y = load_iris().target
    by_name = learner(name, random_state=0).fit(WHOLE, y)
    kernel = KERNELS[name].made(by_name, by_name.gamma_)
    f = by_name.decision_function(WHOLE)
    K = kernel(WHOLE, WHOLE)
    by_function = learner(kernel, random_state=0, memory_budget=2**20).fit(WHOLE, y)
    np.testing.assert_allclose(by_function.decision_function(WHOLE), f, rtol=1e-9)
    by_matrix = learner("precomputed", random_state=0).fit(K, y)
    np.testing.assert_allclose(by_matrix.decision_function(K), f, rtol=1e-9)
