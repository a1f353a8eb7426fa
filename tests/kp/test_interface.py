"""The estimators beside those of scikit-learn: parameters, coefficients, sparse points, streams, warnings, examples."""

import multiprocessing
import pickle
import re
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from kp import (
    PREDICTORS,
    BudgetPerceptron,
    DeltaRulePerceptron,
    Forgetron,
    MulticlassKernelPerceptron,
    MulticlassPerceptron,
    Norma,
    OneVsAllKernelPerceptron,
    OutputCodeKernelPerceptron,
    Romma,
    SharedTraining,
    kernels,
    predict_or_reject,
)
from kp.mistakes import BY_NAME

X, y = load_iris(return_X_y=True)
PIXELS, DIGITS = (part[:300] for part in load_digits(return_X_y=True))
LOGGED = [
    OneVsAllKernelPerceptron("rbf"), OutputCodeKernelPerceptron(degree=2, gamma=1, code="binary"),
    MulticlassKernelPerceptron("rbf", update="xu-zhang", predictor="final"),
    MulticlassKernelPerceptron(degree=2, gamma=1, update="ordinary"), MulticlassPerceptron(), DeltaRulePerceptron(),
]  # fmt: skip
ALL = [*LOGGED, BudgetPerceptron(), Forgetron(), Norma(), Romma(noise_control=1.0)]


def each(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: type(model).__name__)


def short(model, **parameters):
    """A clone that runs four epochs in the same orders each time."""
    return clone(model).set_params(max_iter=4, random_state=0, **parameters)


@parametrize_with_checks([
    OneVsAllKernelPerceptron(), OneVsAllKernelPerceptron("precomputed", predictor="voted"),
    OutputCodeKernelPerceptron("rbf", code="binary", max_iter=20), DeltaRulePerceptron(max_iter=20),
    MulticlassKernelPerceptron(), MulticlassKernelPerceptron("rbf", update="xu-zhang", max_iter=20),
    MulticlassPerceptron(max_iter=20), BudgetPerceptron(), Forgetron(), Norma(), Romma(),
    Romma(aggressive=True, noise_control=1.0),
])  # fmt: skip
def test_scikit_learn_accepts_the_estimators(estimator, check):
    check(estimator)


# Masked values.

DISTANCES = np.exp(-((PIXELS[:60, None] - PIXELS[:60]) ** 2).sum(axis=2) / 1000)


@each(ALL)
def test_masked_values_are_refused_and_a_mask_without_any_is_taken(model):
    points, labels = DISTANCES if getattr(model, "kernel", None) == "precomputed" else PIXELS[:60], DIGITS[:60] % 2
    model = clone(model).set_params(**{"random_state": 0} if "random_state" in model.get_params() else {})
    hidden = np.ma.masked_array(points, mask=points == points.max())
    shown = np.ma.masked_array(points, mask=np.zeros_like(points, dtype=bool))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = clone(model).fit(shown, np.ma.masked_array(labels))
        expected = clone(model).fit(points, labels).predict(points)
    np.testing.assert_array_equal(fitted.predict(shown), expected)
    first = np.ma.masked_array(labels, mask=np.arange(60) == 3)
    for learn in filter(None, (clone(model).fit, getattr(clone(model), "partial_fit", None))):
        with pytest.raises(ValueError, match=r"^X: \d+ of \d+ values are masked; fill them, .* X\.filled"):
            learn(hidden, labels)
        with pytest.raises(ValueError, match="^y: 1 of 60 values are masked; fill them"):
            learn(points, first)
    for ask in filter(None, (getattr(fitted, name, None) for name in ("predict", "decision_function"))):
        with pytest.raises(ValueError, match="^X: .* values are masked"):
            ask(hidden)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_masked_data_of_sparse_points_are_refused(kind):
    points = kind(PIXELS)
    points.data = np.ma.masked_array(points.data, mask=points.data == 16)
    for model in (OneVsAllKernelPerceptron(), Romma(), MulticlassKernelPerceptron()):
        with pytest.raises(ValueError, match=r"^X.data: \d+ of \d+ values are masked; fill them, .* X\.data\.filled"):
            model.fit(points, DIGITS)
    with pytest.raises(ValueError, match="^X.data: .* values are masked"):
        SharedTraining(points, DIGITS)


def test_a_shared_training_set_has_no_masked_values():
    hidden = np.ma.masked_array(PIXELS, mask=PIXELS == 16)
    with pytest.raises(ValueError, match="^X: .* values are masked"):
        SharedTraining(hidden, DIGITS)
    with pytest.raises(ValueError, match="^y: .* values are masked"):
        SharedTraining(PIXELS, np.ma.masked_array(DIGITS, mask=DIGITS == 3))
    training = SharedTraining(PIXELS, DIGITS)
    models = training.fit([OneVsAllKernelPerceptron(max_iter=1, stop_if_separated=False)])
    with pytest.raises(ValueError, match="^X: .* values are masked"):
        list(training.staged_outputs(models, hidden))


# Processes.


def fit_in_a_worker(n_jobs):
    """The scores of a fit, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=1, random_state=0, n_jobs=n_jobs).fit(PIXELS, DIGITS)
        return model.decision_function(PIXELS), [str(each.message) for each in caught]


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=pytest.mark.long)])
def test_a_worker_process_uses_threads_without_a_warning(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        (found, said), (negative, also) = pool.map(fit_in_a_worker, [2, -1])
    expected, here = fit_in_a_worker(2)
    assert said == also == here
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(negative, expected)


# Images in units of 1/255.

IMAGES = (15 * PIXELS).astype(np.uint8) / 255


@each(LOGGED[:-1])
def test_the_scores_of_an_image_do_not_depend_on_what_else_is_scored(model):
    model = short(model).fit(IMAGES[:200], DIGITS[:200])
    whole = np.vstack([IMAGES[200:220], np.rint(IMAGES[220:240])])
    for predictor in ("average", "voted"):
        found = model.decision_function(IMAGES[200:], predictor=predictor)
        for other in (0.123, 7):
            company = np.vstack([IMAGES[200:], np.full_like(IMAGES[:1], other)])
            np.testing.assert_array_equal(model.decision_function(company, predictor=predictor)[:-1], found)
        alone = [model.decision_function(whole[one : one + 1], predictor=predictor)[0] for one in range(len(whole))]
        np.testing.assert_array_equal(alone, model.decision_function(whole, predictor=predictor))


def test_a_stream_of_images_goes_on_after_a_fit_in_the_units_of_the_fit():
    model = short(OneVsAllKernelPerceptron("rbf")).fit(IMAGES[:150], DIGITS[:150])
    model.partial_fit(IMAGES[150:], DIGITS[150:])
    K = kernels.rbf(gamma=model.gamma_)(IMAGES[model.support_], IMAGES)
    np.testing.assert_allclose(model.decision_function(IMAGES).T, model.dual_coef_ @ K, rtol=1e-9, atol=1e-9)


# Epochs and predictors.


@each(LOGGED)
def test_the_epoch_and_the_predictor_of_a_model_are_those_it_predicts_by(model):
    model = short(model, predictor="average").fit(X, y)
    for epoch in range(1, model.n_iter_ + 1):
        model.set_params(epoch=epoch)
        np.testing.assert_array_equal(
            model.decision_function(X), model.decision_function(X, predictor="average", epoch=epoch)
        )
    model.n_iter_ = 2  # as if nothing had been left to learn after the second
    np.testing.assert_array_equal(model.set_params(epoch=4).predict(X), model.predict(X, epoch=2))


@each([OneVsAllKernelPerceptron(), MulticlassKernelPerceptron(), MulticlassPerceptron()])
def test_a_fit_stops_after_the_first_epoch_without_a_mistake(model):
    easy = clone(model).set_params(random_state=0).fit(X[:100], y[:100])
    last = max(log.step[-1] for log in easy.mistakes_)
    assert last // 100 == easy.n_iter_ - 2 and getattr(easy, "converged_", True) and easy.score(X[:100], y[:100]) == 1
    hard = short(model).fit(X, y)
    assert hard.n_iter_ == 4 and not getattr(hard, "converged_", False)


@each([
    BudgetPerceptron(budget=None), BudgetPerceptron(budget=3, removal="oldest"), Forgetron(budget=3),
    Forgetron(budget=3, shrinking="basic"), Norma(nu=0.3, truncation=9, fit_intercept=True, learning_rate="invscaling"),
    Romma(aggressive=True, noise_control=5.0),
])  # fmt: skip
def test_one_versus_all_is_one_binary_learner_for_each_class(model):
    model = clone(model).set_params(degree=2, gamma=0.01, shuffle=False)
    many = clone(model).fit(PIXELS, DIGITS)
    f = many.decision_function(PIXELS)
    for a in range(10):
        one = clone(model).fit(PIXELS, DIGITS == a)
        np.testing.assert_array_equal(f[:, a], one.decision_function(PIXELS))
    np.testing.assert_array_equal(many.predict(PIXELS), f.argmax(1))


@each([OneVsAllKernelPerceptron(), MulticlassKernelPerceptron(), MulticlassPerceptron(), Romma(noise_control=1.0)])
def test_an_order_that_is_drawn_once_is_that_of_every_epoch(model):
    (log,) = short(model, shuffle="once").fit(X[50:], y[50:]).mistakes_
    order = np.random.RandomState(0).permutation(100)
    assert log.step.max() > 200 and np.array_equal(order[log.step % 100], log.example)


# gamma.


@pytest.mark.parametrize("make", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, MulticlassKernelPerceptron, Norma])
def test_gamma_has_the_meaning_that_it_has_in_svc(make):
    for kernel in ("rbf", "poly"):
        for options in ({}, {"gamma": "scale"}, {"gamma": "auto"}, {"gamma": 0.25}):
            theirs = SVC(kernel=kernel, **options).fit(X, y)._gamma
            assert make(kernel, **options).fit(X, y).gamma_ == pytest.approx(theirs, rel=1e-12)
        assert make(kernel).fit(np.ones((4, 2)), [0, 1, 0, 1]).gamma_ == 1.0  # no variance
    assert make("linear", gamma=3).fit(X, y).gamma_ == 1.0
    with pytest.raises(ValueError, match="gamma must be one of scale, auto or a positive number, got None"):
        make(gamma=None).fit(X, y)


# Coefficients.


def kernel_values(model, points):
    k = model._kernel(model.support_vectors_, points)
    if getattr(model, "update", "") == "xu-zhang":
        return model._kernel(model.support_vectors_, X) @ model._kernel(X, points)
    return k


@pytest.mark.parametrize("predictor", ["final", "average", "minimizing"])
@each(LOGGED[:4])
def test_scores_are_the_sum_of_kernel_values_with_dual_coefficients(model, predictor):
    model = short(model, predictor=predictor, epoch=2).fit(X, y)
    f = (model.dual_coef_ @ kernel_values(model, X)).T + getattr(model, "intercept_", 0.0)
    expected = model.outputs(X) if hasattr(model, "outputs") else model.decision_function(X)
    np.testing.assert_allclose(f, expected, rtol=1e-9, atol=1e-9)
    assert model.dual_coef_.shape[1] == len(model.support_) == len(model.support_vectors_)


@pytest.mark.parametrize(("points", "labels"), [(X, y), (IMAGES, DIGITS)])
@each(LOGGED[4:])
def test_scores_are_those_of_the_weights(model, points, labels):
    model = short(model, predictor="average", epoch=2).fit(points, labels)
    f = points @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(f, model.decision_function(points), rtol=1e-9, atol=1e-9)


@each(LOGGED)
def test_models_without_a_sum_have_no_coefficients(model):
    for name in ("dual_coef_", "coef_", "intercept_"):
        assert not hasattr(clone(model), name) and not hasattr(short(model, predictor="voted").fit(X, y), name)


# What is refused.


@each(ALL)
def test_weights_of_examples_are_refused_with_a_remedy(model):
    for call in ("fit", "partial_fit"):
        if hasattr(model, call):
            for name in ("sample_weight", "class_weight"):
                with pytest.raises(TypeError, match=rf"^{name}: fit takes X and y only, .* np\.repeat\(range\(len\(y"):
                    getattr(clone(model), call)(X, y, **{name: np.ones(150)})
    points = X @ X.T if model.kernel == "precomputed" else X
    clone(model).fit(points, y, sample_weight=None)


WRONG = [
    ("max_iter", True), ("max_iter", 0), ("gamma", np.inf), ("gamma", "big"), ("degree", 2.0), ("degree", 10**30),
    ("coef0", None), ("coef0", np.nan), ("coef0", 10**400), ("kernel", ["rbf"]), ("kernel", "cubic"), ("n_jobs", "2"),
    ("n_jobs", 0), ("memory_budget", 0), ("shuffle", 1), ("shuffle", "never"), ("threshold", np.nan),
    ("stop_if_separated", None), ("verbose", -1), ("epoch", 0), ("epoch", 1.5), ("epoch", True), ("eta0", 0.0),
    ("initial_scale", np.nan), ("alpha", -1), ("eta0", 0), ("margin", "1"), ("nu", 1.5), ("fit_intercept", "1"),
    ("budget", 0.5), ("truncation", True), ("normalize", 1),
    ("count_errors", "all"), ("presentation", "random"), ("predictor", "best"), ("orders", "same"), ("update", "xu"),
    ("demote", "last"), ("solver", "auto"), ("removal", "worst"), ("shrinking", "none"), ("learning_rate", "optimal"),
    ("start", "nowhere"), ("aggressive", 1), ("noise_control", -1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_values_that_a_parameter_cannot_have_are_refused_by_its_name(name, value):
    models = [clone(model) for model in ALL if name in model.get_params()]
    assert models
    for model in models:
        with pytest.raises(ValueError, match=f"{name} must be "):
            model.set_params(**{name: value}).fit(X, y)
        assert not [attribute for attribute in vars(model) if attribute.endswith("_")]


VALUES = [
    (np.float64(-1.0), "-1.0"), (np.str_("x"), "'x'"), (np.array(["a", "b"]), "['a', 'b']"),
    (np.arange(1000), "[0, 1, 2, ..., 997, 998, 999]"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_messages_show_values_of_numpy_as_python_writes_them(value, text):
    with pytest.raises(ValueError, match=f"max_iter must be .*, got {re.escape(text)}$"):
        OneVsAllKernelPerceptron(max_iter=value).fit(X, y)


INTEGERS = {"max_iter": 7, "memory_budget": 2**30, "degree": 2, "budget": 9, "truncation": 9, "epoch": 3, "n_jobs": 2}


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
@each(ALL)
def test_integers_of_any_width_count_as_those_of_python(model, kind):
    given = {name: value for name, value in INTEGERS.items() if name in model.get_params() and value <= np.iinfo(kind).max}
    points = np.tile(X, (4, 1))
    points = points @ points.T if model.kernel == "precomputed" else points
    labels = np.tile(y, 4)
    random = {"random_state": 0} if "random_state" in model.get_params() else {}
    expected = clone(model).set_params(**given, **random).fit(points, labels).decision_function(points)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        narrow = clone(model).set_params(**{name: kind(value) for name, value in given.items()}, **random)
        np.testing.assert_array_equal(narrow.fit(points, labels).decision_function(points), expected)


def test_a_number_of_threads_that_is_set_afterwards_is_checked():
    model = OneVsAllKernelPerceptron().fit(X, y).set_params(n_jobs="a")
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, got 'a'"):
        model.predict(X)


def test_large_points_for_a_model_of_images_warn_of_nothing():
    model = OneVsAllKernelPerceptron("rbf", gamma=1.0).fit(IMAGES.astype(np.float32), DIGITS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = model.decision_function(np.full((1, 64), 3e38, dtype=np.float32))
    assert not far.any()


@pytest.mark.parametrize(("labels", "wrong", "free"), [
    (["a", "b"], [-1, None, ["?"], b"?", "b"], "rejected"), ([1, 2], [None, 1.5, -1j, [-1], "-1", True, 2, 10**30], -3),
    ([1.0, 2.0], [None, "?", 2, 2.0], -1.0), (np.array([1, 255], dtype=np.uint8), [0.5, 1], -1),
    (np.array([0, 2**60 + 1], dtype=np.uint64), [-1, 2**60 + 1], np.uint64(5)), ([True, False], [-1, "?", True], None),
    (np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"), [-1, "?"], np.datetime64("2026-01-03")),
])  # fmt: skip
def test_the_label_of_rejected_points_has_the_type_of_the_labels_and_is_none_of_them(labels, wrong, free):
    model = OneVsAllKernelPerceptron(degree=1, gamma=1).fit([[0], [1]], labels)
    for each in wrong:
        with pytest.raises(ValueError, match="rejected must have the type of the class labels, .*, and be none of them"):
            model.predict([[0]], min_margin=1, rejected=each)
    if free is not None:
        known = model.classes_.tolist()
        assert set(model.predict([[0], [1]], min_margin=0, rejected=free).tolist()) == set(known)
        assert model.predict([[0]], min_margin=np.inf, rejected=free)[0] == free


def test_an_unfitted_model_rejects_nothing():
    with pytest.raises(NotFittedError, match="needs a fitted classifier, got OneVsAllKernelPerceptron"):
        predict_or_reject(OneVsAllKernelPerceptron(), [[0]], min_margin=0)


@each(LOGGED)
def test_a_predictor_that_is_no_name_is_refused_as_such(model):
    model = short(model).fit(X, y)
    for wrong in (["final"], 5, None):
        with pytest.raises(ValueError, match=f"predictor must be one of {', '.join(BY_NAME)}, got "):
            model.set_params(predictor=wrong).predict(X)
    for wrong in (5, [5], [["final"]]):
        with pytest.raises(ValueError, match=f"predictor must be one of {', '.join(BY_NAME)}, got "):
            list(model.staged_predict(X, predictor=wrong))


@each([BudgetPerceptron(), Forgetron(), Norma(), Romma()])
def test_estimators_without_given_kernels_name_those_that_take_them(model):
    takers = "OneVsAllKernelPerceptron, OutputCodeKernelPerceptron or MulticlassKernelPerceptron"
    with pytest.raises(ValueError, match=f"kernel must be one of .*, got 'precomputed'; .* take {takers}"):
        clone(model).set_params(kernel="precomputed").fit(X, y)


def test_steps_and_beginnings_that_overflow_are_refused():
    for model in (DeltaRulePerceptron(eta0=1e308), DeltaRulePerceptron(initial_scale=1e308)):
        with pytest.raises(ValueError, match="kernel values must stay below"):
            model.fit(X, y)
    with pytest.raises(ValueError, match=r"eta0 \* alpha must be below 1, got 2 and 128"):
        Norma(eta0=np.uint8(2), alpha=np.uint8(128)).fit(X, y)
    with pytest.raises(ValueError, match="epoch must be at most max_iter=1000, got 1001"):
        DeltaRulePerceptron(epoch=1001).fit(X, y)
    with pytest.raises(ValueError, match="eta0 must be a positive number up to 1e50, got 1e\\+200"):
        Norma(eta0=1e200, alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match="kernel values must stay below"):
        Norma(eta0=1e50, alpha=0.0, degree=30, gamma=1).fit(1e5 * X, y)


@pytest.mark.parametrize("make", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, MulticlassKernelPerceptron])
def test_given_kernels_are_symmetric_and_of_sensible_size(make):
    K = X @ X.T
    for wrong, message in ((K + np.triu(K), "symmetric matrix"), (K[:140], "square"), (1e200 * np.eye(150), "1e\\+100")):
        with pytest.raises(ValueError, match=message):
            make("precomputed").fit(wrong, y[: len(wrong)])
    for size in (1e-9, 1.0, 1e9):
        with pytest.raises(ValueError, match="symmetric matrix"):
            make("precomputed").fit(size * (K + np.triu(K) / 100), y)
        make("precomputed", max_iter=1).fit(size * (K + 1e-7 * np.triu(K)), y)  # rounded to single precision
    for returned in (sparse.csr_array(K), K.astype(str), K.astype(complex), None, [[1.0], [1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"must return an array \(\d+, 150\) of numbers, got \w+ of .*; convert it"):
            make(lambda A, B, found=returned: found).fit(X, y)
    with pytest.raises(ValueError, match="up to 1e\\+100, got .* larger ones"):
        make(lambda A, B: 1e200 * A @ B.T).fit(X, y)
    with pytest.raises(TypeError, match="dense data is required"):
        make("precomputed").fit(sparse.csr_array(K), y)


def test_a_kernel_function_gets_double_precision():
    seen = []
    function = lambda A, B: seen.extend((A.dtype, B.dtype)) or (1 + A @ B.T) ** 3  # noqa: E731
    model = OneVsAllKernelPerceptron(function, max_iter=2, random_state=0).fit(PIXELS.astype(np.uint8), DIGITS)
    assert model.score(PIXELS.astype(np.uint8), DIGITS) > 0.9 and set(seen) == {np.dtype(float)}


@pytest.mark.parametrize("make", dict.fromkeys(map(type, ALL)))
@pytest.mark.parametrize(("points", "labels"), [(X, y), (PIXELS / 16, DIGITS)])
def test_single_precision_gives_no_warning_and_the_bits_of_double(make, points, labels):
    single = points.astype(np.float32)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (single, single.astype(np.float64)):
            model = short(make())
            scores = [model.fit(each, labels).decision_function(each)]
            if hasattr(model, "partial_fit"):
                scores.append(model.partial_fit(each, labels).decision_function(each))
            found.append(scores)
    np.testing.assert_array_equal(*found)


NUMBERS = X[:4].copy()
GIVEN = {
    "reals": NUMBERS,
    "one row": NUMBERS[:1],
    "by columns": np.asfortranarray(NUMBERS),
    "a view": NUMBERS[::-2],
    "float32": NUMBERS.astype(np.float32),
    "float16": NUMBERS.astype(np.float16),
    "long": NUMBERS.astype(np.longdouble),
    "bytes": NUMBERS.astype(np.uint8),
    "big endian": NUMBERS.astype(">f8"),
    "bools": NUMBERS > 1,
    "a list": NUMBERS.tolist(),
    "objects": NUMBERS.astype(object),
    "masked": np.ma.masked_array(NUMBERS),
    "a matrix": np.asmatrix(NUMBERS),
    "sparse": sparse.csc_matrix(NUMBERS),
    "NaN": np.where(NUMBERS > 3, np.nan, NUMBERS),
    "infinity": np.where(NUMBERS > 3, -np.inf, NUMBERS),
    "complex": NUMBERS * 1j,
    "texts": NUMBERS.astype(str),
    "dates": NUMBERS.astype("M8[s]"),
    "no rows": NUMBERS[:0],
    "no columns": NUMBERS[:, :0],
    "three columns": NUMBERS[:, :3],
    "a vector": NUMBERS[0],
    "a number": np.array(1.0),
    "a cube": NUMBERS[None],
}


@pytest.mark.parametrize("named", [False, True], ids=["without names", "with names"])
@pytest.mark.parametrize("given", GIVEN)
def test_points_are_validated_as_scikit_learn_does(given, named):
    """Also where they are plain arrays, for which its function is not called."""

    def outcome(validate):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found = validate()
            except Exception as error:
                found = error
        told = [str(each.message) for each in said]
        if isinstance(found, Exception):
            return type(found), str(found), told
        dense = found.toarray() if sparse.issparse(found) else found
        return type(found), found is GIVEN[given], dense.dtype, dense.flags.c_contiguous, dense.tolist(), told

    model = OneVsAllKernelPerceptron(max_iter=1).fit(X, y)
    if named:
        model.feature_names_in_ = np.array(list("abcd"), dtype=object)
    expected = outcome(
        lambda: validate_data(model, GIVEN[given], dtype="numeric", reset=False, accept_sparse="csr", copy=False)
    )
    if given == "dates":
        expected = (ValueError, "X must hold numbers, got datetime64[s]; convert it", expected[-1])
    assert outcome(lambda: model._checked(GIVEN[given])) == expected


# After `fit`, after errors.


@each([*ALL, OneVsAllKernelPerceptron("linear")])
def test_a_model_keeps_copies_of_its_data(model):
    data = X @ X.T if model.kernel == "precomputed" else X.copy()
    points = data.copy()
    model = clone(model).fit(data, y)
    expected = model.decision_function(points)
    data *= 0
    np.testing.assert_array_equal(model.decision_function(points), expected)


@pytest.mark.parametrize("make", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, MulticlassKernelPerceptron])
def test_a_second_fit_leaves_nothing_of_the_first(make):
    model = make("rbf", max_iter=2, random_state=0).fit(X, y)
    for kernel, points, gone in (
        ("precomputed", X @ X.T, {"gamma_", "support_vectors_"}), (lambda A, B: A @ B.T, X, {"gamma_"}), ("rbf", X, set()),
    ):  # fmt: skip
        before = set(vars(make("rbf").fit(X, y)))
        assert set(vars(model.set_params(kernel=kernel).fit(points, y))) == before - gone


@each([*LOGGED, Romma("rbf", noise_control=1.0)])
def test_parameters_of_learning_that_are_set_afterwards_change_no_prediction(model):
    model = short(model).fit(X, y)
    predictors = ("final",) if isinstance(model, Romma) else ("final", "average", "voted")
    expected = [model.decision_function(X, predictor=predictor) for predictor in predictors]
    others = {"kernel": "linear", "gamma": 3.0, "degree": 1, "coef0": 7.0, "threshold": False, "update": "ordinary"}
    others |= {"eta": 9.0, "start": "zero", "noise_control": 0.0}
    model.set_params(**{name: value for name, value in others.items() if name in model.get_params()})
    for predictor, f in zip(predictors, expected, strict=True):
        np.testing.assert_array_equal(model.decision_function(X, predictor=predictor), f)


@each(ALL)
def test_a_refused_call_changes_nothing(model):
    given = X @ X.T if model.kernel == "precomputed" else X
    model = clone(model).fit(given, y)
    before = dict(vars(model))
    large = 1e200 * np.ones((150, 150))
    dates = np.full((150, 150), "2026-01-01", dtype="datetime64[D]")
    for points, labels, message in (
        (large, y, r"up to 1e\+100 in size, got 1e\+200; scale the data down"),
        (dates, y, "X must hold numbers"),
        (np.full((150, 150), np.nan), y, "NaN"),
        (given, np.zeros(150), "2 classes"),
        (given, y[:140], "inconsistent numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(points, labels)
        assert vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())


@each([LOGGED[0], LOGGED[1], BudgetPerceptron(budget=3, random_state=0), Norma()])
def test_an_interrupted_part_of_a_stream_changes_nothing(model, monkeypatch):
    model = clone(model).partial_fit(X[::2], y[::2], classes=range(3))
    f = model.decision_function(X)
    before = dict(vars(model))
    other = pickle.loads(pickle.dumps(model))

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("kp.budget._norma" if isinstance(model, Norma) else "kp.budget._perceptron", interrupted)
        patch.setattr("kp.stream._values", interrupted)
        model.partial_fit(X[1::2], y[1::2])
    assert vars(model).keys() | {"_stream"} == before.keys() | {"_stream"}
    np.testing.assert_array_equal(model.decision_function(X), f)
    again = [each.partial_fit(X[1::2], y[1::2]).decision_function(X) for each in (model, other)]
    np.testing.assert_array_equal(*again)


# Streams.


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_parts_of_a_stream_of_any_size_after_a_fit_give_the_same_bits(kernel, monkeypatch):
    monkeypatch.setattr("kp.stream._BLOCK", 17)
    order = np.random.RandomState(0).permutation(150)
    found = []
    for size in (1, 7, 150):
        model = OneVsAllKernelPerceptron(kernel, gamma=0.5, max_iter=2, random_state=0).fit(X[::3], y[::3])
        for start in range(0, 150, size):
            part = order[start : start + size]
            model.partial_fit(X[part], y[part])
            if start == 70:
                model = pickle.loads(pickle.dumps(model))
        columns = [getattr(log, name).tolist() for log in model.mistakes_ for name in ("example", "sign")]
        found.append((columns, model.support_vectors_.tolist(), model.decision_function(X).tobytes(), model.n_seen_))
    assert found[0] == found[1] == found[2] and found[0][-1] == 200


def test_a_stream_may_go_from_bytes_to_real_numbers():
    points = np.concatenate([PIXELS[:100], PIXELS[100:] + 0.25])
    whole = OneVsAllKernelPerceptron(degree=2, gamma=1).partial_fit(points, DIGITS)
    parts = OneVsAllKernelPerceptron(degree=2, gamma=1).partial_fit(
        PIXELS[:100].astype(np.uint8), DIGITS[:100], classes=range(10)
    )
    parts.partial_fit(points[100:], DIGITS[100:])
    np.testing.assert_array_equal(parts.support_vectors_, whole.support_vectors_)
    np.testing.assert_array_equal(parts.decision_function(points), whole.decision_function(points))


KINDS = [(a, b, c) for a in (np.asarray, sparse.csr_array) for b in (np.asarray, sparse.csr_matrix) for c in (a, b)]


@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
@pytest.mark.parametrize("points", [PIXELS, PIXELS.astype(np.uint8), PIXELS / 7], ids=["whole", "bytes", "real"])
def test_a_stream_may_change_between_dense_and_sparse_points(points, begin):
    found = []
    for first, second, third in KINDS:
        model = OneVsAllKernelPerceptron("rbf", gamma=1e-3, max_iter=1, shuffle=False)
        getattr(model, begin)(first(points[:150]), DIGITS[:150])
        model.partial_fit(second(points[150:220]), DIGITS[150:220]).partial_fit(third(points[220:]), DIGITS[220:])
        found.append((model.decision_function(points).tobytes(), model.support_.tolist()))
    assert len(set(map(repr, found))) == 1


def test_a_stream_keeps_the_code_that_it_began_with():
    model = OutputCodeKernelPerceptron(code="one-hot", max_iter=50, random_state=0).fit(PIXELS[::2], DIGITS[::2])
    assert model.converged_
    other = pickle.loads(pickle.dumps(model)).partial_fit(PIXELS[1::2], DIGITS[1::2])
    model.set_params(code="binary").partial_fit(PIXELS[1::2], DIGITS[1::2])
    np.testing.assert_array_equal(model.code_, other.code_)
    np.testing.assert_array_equal(model.decision_function(PIXELS), other.decision_function(PIXELS))
    assert not hasattr(model, "converged_"), "a stream has no training set"


def test_the_support_examples_of_a_stream_are_held_in_few_parts():
    model = OneVsAllKernelPerceptron("rbf", gamma=1e-3)
    for i in range(200):
        model.partial_fit(PIXELS[i : i + 1], DIGITS[i : i + 1], classes=range(10))
    held = [coefficients.shape[1] for _, coefficients in model._stream.held]
    assert sum(held) == len(model.support_) and all(a > 2 * b for a, b in zip(held, held[1:], strict=False))


def test_a_stream_may_have_more_parts_than_a_fit_may_have_epochs():
    model = OneVsAllKernelPerceptron(max_iter=2, epoch=4)
    for start in range(0, 150, 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30], classes=range(3))
    assert model.n_iter_ == 5
    np.testing.assert_array_equal(model.predict(X), model.predict(X, epoch=4))
    with pytest.raises(ValueError, match="epoch must be at most max_iter=2, got 4; raise max_iter"):
        model.fit(X, y)


@each([LOGGED[0], LOGGED[1], BudgetPerceptron()])
def test_classes_of_a_stream_are_named_once(model):
    with pytest.raises(ValueError, match="classes must be labels, got NaN"):
        clone(model).partial_fit(X, y, classes=[0, 1, 2, np.nan])
    with pytest.raises(ValueError, match=r"classes must be labels of one type, got \[0, 1, 2, None\]"):
        clone(model).partial_fit(X, y, classes=[0, 1, 2, None])
    with pytest.raises(ValueError, match="at least 2 classes, got none; name all classes in the first call"):
        clone(model).partial_fit(X, y, classes=[])
    with pytest.raises(ValueError, match="name all classes in the first call"):
        clone(model).partial_fit(X[:1], y[:1])
    model = clone(model).partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X, y, classes=[2, 1, 0])
    with pytest.raises(ValueError, match=r"classes must be those of the first call \[0, 1, 2\], got \[0, 1, 2, 3\]"):
        model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"among the classes of the first call \[0, 1, 2\], got \[7\]"):
        model.partial_fit(X, np.full(150, 7))


# Warnings, bars, threads, counts.


NAMED = [*LOGGED[:3], BudgetPerceptron(), Forgetron(), Norma(), Romma(noise_control=1.0)]


@pytest.mark.parametrize("scale", [16, 0.1])
@each(NAMED)
def test_a_kernel_that_sees_no_neighbours_is_told(model, scale, monkeypatch):
    monkeypatch.setattr("kp.estimator._BLOCK", 70)
    squares = np.square(PIXELS[:, None] - PIXELS).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    nearest = np.median(squares[np.linspace(0, 299, 50).astype(int)].min(axis=1))
    state = np.random.get_state()[1].tolist()
    text = re.escape(f"neighbours is {300 * scale**2 * nearest:.3g}, so that k(x, y) is near 0; take gamma='scale'")
    with pytest.warns(UserWarning, match=f"gamma=300 .*{text}") as told:
        short(model, kernel="rbf", gamma=300).fit(scale * PIXELS, DIGITS)
    assert [each.filename for each in told] == [__file__], "the warning does not name the line that called fit"
    assert np.random.get_state()[1].tolist() == state
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for gamma in ("scale", 9.9 / (scale**2 * nearest)):
            short(model, kernel="rbf", gamma=gamma).fit(scale * PIXELS, DIGITS)


def test_points_that_are_repeated_do_not_hide_that_a_kernel_sees_no_neighbours():
    points = 100 * np.random.RandomState(0).randn(100, 5)
    for kind in (np.asarray, sparse.csr_array, np.float32):
        with pytest.warns(UserWarning, match="the kernel has saturated"):
            OneVsAllKernelPerceptron("rbf", gamma=1.0).fit(kind(np.repeat(points, 2, axis=0)), np.arange(200) // 2 % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OneVsAllKernelPerceptron("rbf", gamma=1e9).fit(np.full((40, 3), 0.1), np.arange(40) % 2)  # there is one point


@pytest.mark.parametrize("model", [OneVsAllKernelPerceptron("rbf", gamma=99.0), OneVsAllKernelPerceptron()])
def test_sparse_points_of_many_features_stay_sparse_where_a_kernel_is_judged(model):
    random = np.random.RandomState(0)
    where = np.repeat(np.arange(60), 40), random.randint(0, 10**7, 2400)
    wide = sparse.csr_array((random.randn(2400), where), shape=(60, 10**7))
    tracemalloc.start()
    with warnings.catch_warnings(record=True) as told:
        clone(model).set_params(max_iter=1).fit(wide, np.arange(60) % 2)
    assert len(told) == (model.kernel == "rbf")
    assert tracemalloc.get_traced_memory()[1] < 8 * 10**7 * 10, "fifty dense points are 4 GB"
    tracemalloc.stop()


def test_a_kernel_is_told_by_nearest_neighbours_not_by_support_examples():
    random = np.random.RandomState(0)
    turn = 10 * np.sqrt(random.random_sample(400))
    side = random.randint(0, 2, 400)
    spirals = turn[:, None] * np.column_stack([np.cos(turn + np.pi * side), np.sin(turn + np.pi * side)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # most points are far from each other, but each is near some
        assert OneVsAllKernelPerceptron("rbf", gamma=2.0, random_state=0).fit(spirals, side).score(spirals, side) == 1.0
    cancer, sick = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="gamma=300 the median"):
        model = OneVsAllKernelPerceptron("rbf", gamma=300, random_state=0).fit(StandardScaler().fit_transform(cancer), sick)
    assert len(model.support_) < 0.97 * len(sick)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@each([OneVsAllKernelPerceptron(), OutputCodeKernelPerceptron(), MulticlassKernelPerceptron(), *NAMED[3:]])
def test_no_default_warns_whatever_the_units_of_points_around_0(model, scale):
    points = scale * (PIXELS - PIXELS.mean()) / PIXELS.std()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(max_iter=1).fit(points, DIGITS)


def test_the_delta_rule_warns_where_the_epochs_that_it_took_by_itself_did_not_suffice():
    with pytest.warns(ConvergenceWarning, match="after 1000 epochs .* give max_iter") as told:
        model = DeltaRulePerceptron(random_state=0).fit(X[50:], y[50:])
    assert [each.filename for each in told] == [__file__] and not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = DeltaRulePerceptron(random_state=0, max_iter=1000).fit(X[50:], y[50:])
        DeltaRulePerceptron(random_state=0).fit(X[:100], y[:100])
    np.testing.assert_array_equal(given.coef_, model.coef_)


LONG_KINDS = [pytest.param(kind, marks=pytest.mark.long) for kind in ("large", "images", "sparse")]


@pytest.mark.parametrize("kind", ["bytes", "real", *LONG_KINDS])
@each([
    *(OneVsAllKernelPerceptron(degree=p, gamma=gamma) for p in (1, 2) for gamma in (1, "scale")),
    OutputCodeKernelPerceptron(code="binary"),
    OutputCodeKernelPerceptron("rbf", presentation="replacement"), *LOGGED[2:4], Romma(noise_control=1.0),
    Romma(degree=2, gamma=1e-3, aggressive=True, noise_control=1.0),
])  # fmt: skip
def test_threads_stretches_and_memory_change_no_bit(model, kind, monkeypatch):
    random = np.random.RandomState(0)
    found = []
    real = random.standard_normal((150, 40))
    pixels = random.randint(0, 256, (150, 40)).astype(np.uint8)
    points = {
        "bytes": pixels, "large": random.randint(-30000, 30000, (150, 40)), "real": real, "images": pixels / 255,
        "sparse": sparse.csr_array(real),
    }[kind]  # fmt: skip
    for threads, stretch, rows in ((1, 150, 10**6), (2, 7, 1), (3, 50, 13)):
        monkeypatch.setattr("kp.perceptron._STRETCH", stretch)
        least = 2 * 150 if getattr(model, "update", "") == "xu-zhang" else 1  # of K and its square
        fitted = short(model, n_jobs=threads, memory_budget=8 * 150 * max(rows, least)).fit(points, y)
        logs = [vars(log).items() for log in fitted.mistakes_]
        columns = [{name: np.array(column).tolist() for name, column in log} for log in logs]
        predictors = ("final",) if isinstance(model, Romma) else ("final", "average", "voted")
        scores = [fitted.decision_function(points, predictor=predictor).tobytes() for predictor in predictors]
        found.append((columns, scores))
    assert found[0] == found[1] == found[2]


@each(ALL[:-1])
def test_a_verbose_fit_shows_a_bar_and_changes_nothing(model, capsys):
    quiet = short(model).fit(X, y)
    assert capsys.readouterr().err == ""
    loud = short(model, verbose=1).fit(X, y)
    assert type(model).__name__ in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.predict(X), loud.predict(X))


@pytest.mark.parametrize("make", [OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, MulticlassKernelPerceptron])
def test_threads_are_those_of_scikit_learn(make):
    from joblib import parallel_config

    assert make().n_jobs is None and make()._n_threads() == 1 and make(n_jobs=3)._n_threads() == 3
    with parallel_config(backend="threading", n_jobs=2):
        assert make()._n_threads() == 2


@pytest.mark.parametrize(
    "model",
    [MulticlassPerceptron(), MulticlassKernelPerceptron("rbf", count_errors=False), OneVsAllKernelPerceptron("linear")],
)
def test_training_errors_are_counted_where_they_are_asked_for(model):
    assert short(model).fit(X, y).mistakes_[0].errors is None
    for asked in ({"count_errors": True}, {"predictor": "minimizing"}):
        assert len(short(model, **asked).fit(X, y).mistakes_[0].errors)


# Sparse points.

SPARSE = [
    OneVsAllKernelPerceptron(degree=2, gamma=1), OneVsAllKernelPerceptron("linear", count_errors=True),
    OneVsAllKernelPerceptron(lambda A, B: (1 + A @ B.T) ** 2), OutputCodeKernelPerceptron(degree=2, gamma=1, code="binary"),
    MulticlassKernelPerceptron(degree=2, gamma=1), MulticlassKernelPerceptron("rbf", update="ordinary"),
]  # fmt: skip


def texts(whole):
    """Word counts (120, 400) of three topics, most of them 0; or counts divided by the length of the text."""
    random = np.random.RandomState(0)
    topics = random.randint(3, size=120)
    counts = random.poisson(np.where(np.arange(400) % 3 == topics[:, None], 0.15, 0.02)).astype(float)
    return (counts if whole else counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)), topics


@each(SPARSE)
def test_sparse_points_give_the_logs_and_scores_of_dense_ones(model):
    dense, topics = texts(whole=model.kernel != "rbf")
    a = short(model).fit(dense[:80], topics[:80])
    b = short(model).fit(sparse.csr_matrix(dense[:80]), topics[:80])
    for log, other in zip(a.mistakes_, b.mistakes_, strict=True):
        assert log.example.tolist() == other.example.tolist() and log.errors.tolist() == other.errors.tolist()
    for form in (sparse.coo_array, np.array):
        for predictor in PREDICTORS:
            f = b.decision_function(form(dense[80:]), predictor=predictor)
            np.testing.assert_allclose(f, a.decision_function(dense[80:], predictor=predictor), rtol=1e-12, atol=1e-15)
    assert sparse.issparse(b.support_vectors_) == (not callable(model.kernel))
    if hasattr(a, "gamma_"):
        assert a.gamma_ == pytest.approx(b.gamma_, rel=1e-12)


@pytest.mark.parametrize(
    ("dtype", "factor"),
    [("int8", 15), ("uint8", 30), ("int16", 1e3), ("int64", 1e10), ("float16", 30), ("float32", 1e20), ("float32", 1e-25)],
)
def test_scale_is_in_double_precision_whatever_the_type_of_the_points(dtype, factor):
    X, y = load_iris(return_X_y=True)
    X = (X * factor).astype(dtype)
    expected = 1 / (4 * X.astype(float).var())
    for points in (X,) if dtype == "float16" else (X, sparse.csr_array(X)):
        assert OneVsAllKernelPerceptron("rbf").fit(points, y).gamma_ == pytest.approx(expected)


def test_a_scale_that_is_no_number_is_refused_with_the_remedy():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="gamma='scale' must be finite, got .* = inf; scale the data up"):
        OneVsAllKernelPerceptron("rbf").fit(1e-160 * X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_parameters_may_be_numbers_of_few_bits(kind):
    X, y = load_iris(return_X_y=True)
    model = OneVsAllKernelPerceptron("rbf", gamma=kind(0.5), coef0=kind(1)).fit(X, y)
    assert model.gamma_ == 0.5
    with pytest.raises(ValueError, match="gamma must be .* a positive number, got .*inf"):
        OneVsAllKernelPerceptron("rbf", gamma=kind("inf")).fit(X, y)
