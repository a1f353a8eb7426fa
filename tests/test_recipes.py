"""The recipes of CONTRIBUTING.md for a kernel and a predictor, carried out on a copy of kp to the letter."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = """
import numpy as np
import pytest
from scipy import sparse

from kp import (
    PREDICTORS, BudgetPerceptron, DeltaRulePerceptron, Forgetron, MulticlassKernelPerceptron, MulticlassPerceptron, Norma,
    OneVsAllKernelPerceptron, OutputCodeKernelPerceptron, Romma, SharedTraining,
)
from study.protocols.images import estimator, predictions

random = np.random.RandomState(0)
y = random.randint(0, 3, 45)
X = random.randn(45, 4) + 2 * np.eye(3, 4)[y]
X, X_new, y = X[:30], X[30:], y[:30]
cauchy = lambda A, B: 1 / (1 + 0.5 * ((A[:, None] - B) ** 2).sum(axis=2))
own = {"kernel": "cauchy", "gamma": 0.5}

# The kernel: the same scores as a function and a Gram matrix; sums of its values, of sparse points too.
logged = [
    OneVsAllKernelPerceptron(random_state=0, max_iter=3), OutputCodeKernelPerceptron(random_state=0, max_iter=3),
    MulticlassKernelPerceptron(random_state=0, max_iter=3, update="xu-zhang"),
    MulticlassKernelPerceptron(random_state=0, max_iter=3, update="ordinary"),
]
others = [Romma(), BudgetPerceptron(budget=9), Forgetron(budget=9), Norma()]
for model in [*logged, *(each.set_params(random_state=0) for each in others)]:
    f = model.set_params(**own).fit(X, y).decision_function(X_new)
    assert model.gamma_ == 0.5
    if isinstance(model, OneVsAllKernelPerceptron | Romma):
        np.testing.assert_allclose(model.fit(sparse.csr_array(X), y).decision_function(sparse.csr_array(X_new)), f)
    np.testing.assert_allclose(model.set_params(kernel=cauchy).fit(X, y).decision_function(X_new), f)
for model in logged:
    f = model.set_params(kernel="precomputed").fit(cauchy(X, X), y).decision_function(cauchy(X_new, X))
    np.testing.assert_allclose(model.set_params(**own).fit(X, y).decision_function(X_new), f)
assert OneVsAllKernelPerceptron("cauchy").fit(X, y).gamma_ == pytest.approx(1 / (4 * X.var()))
with pytest.raises(ValueError, match="kernels of inner products, .* got 'cauchy'"):
    SharedTraining(X, y).fit([OneVsAllKernelPerceptron("cauchy", stop_if_separated=False)])

# The predictor: the mean of the later half of the stored predictors, in all estimators, staged too.
for model in [*logged, MulticlassPerceptron(max_iter=3), DeltaRulePerceptron(max_iter=3, random_state=0)]:
    model.set_params(predictor="tail average").fit(X, y)
    stages = list(model.staged_decision_function(X_new, predictor="all"))
    for epoch, stage in enumerate(stages, start=1):
        alone = model.decision_function(X_new, epoch=epoch)
        np.testing.assert_allclose(stage["tail average"], alone, rtol=1e-9, atol=1e-12)
model = OneVsAllKernelPerceptron(degree=2, gamma=1, max_iter=2, stop_if_separated=False, predictor="tail average").fit(X, y)
for log, c in zip(model.mistakes_, model.dual_coef_, strict=True):
    stored = np.zeros((60, 30))
    for t, step, sign in zip(log.example, log.step, log.sign, strict=True):
        stored[step:, t] += sign
    np.testing.assert_allclose(c, stored[30:].mean(axis=0)[model.support_])

# A study shows the four that it showed before.
assert PREDICTORS == ("final", "average", "minimizing", "voted")
training = SharedTraining(X, y)
models = training.fit([estimator(2, n_epochs=2, random_state=0)])
assert predictions(training, models, X_new).shape == (1, 4, 2, 15)
with pytest.raises(ValueError, match="staged outputs are those of final, .* predictor='tail average'"):
    next(training.staged_outputs([model]))
"""


def recipe(text, heading):
    """The Python blocks of a section of CONTRIBUTING.md."""
    _, found, section = text.partition(f"\n### {heading}\n")
    assert found
    return re.findall(r"```python\n(.*?)```", section.partition("\n#")[0], flags=re.DOTALL)


def insert(path, before, text):
    whole = path.read_text(encoding="utf-8")
    assert whole.count(before) == 1
    path.write_text(whole.replace(before, text + before), encoding="utf-8")


def test_a_kernel_and_a_predictor_that_are_added_by_the_recipes_are_right_in_all_estimators(tmp_path):
    shutil.copytree(ROOT / "kp", tmp_path / "kp", ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    kernel, named = recipe(text, "A kernel")
    insert(tmp_path / "kp" / "kernels.py", "class Named(NamedTuple):", kernel + "\n\n")
    insert(tmp_path / "kp" / "kernels.py", '    "laplacian": Named(', named)
    (predictor,) = recipe(text, "A predictor")
    insert(tmp_path / "kp" / "mistakes.py", '    "voted": Predictor(', predictor)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
