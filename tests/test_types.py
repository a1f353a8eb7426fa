"""The hints of kp: its public surface has them, they hold inside, and they refuse what a user gets wrong."""

import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kp

ROOT = Path(__file__).parents[1]

USER = """
import numpy as np
from scipy.sparse import csr_array

from kp import BudgetPerceptron, KernelRidgeClassifier, MulticlassPerceptron, OneVsAllKernelPerceptron, predict_or_reject

X, y = np.eye(4), ["a", "b", "a", "b"]
model = OneVsAllKernelPerceptron("rbf", gamma="scale", random_state=np.random.RandomState(0)).fit(X, y)
labels: np.ndarray = model.fit(X.tolist(), y).predict(X, predictor="voted", epoch=1)
labels = model.fit(csr_array(X), y).set_params(epoch=2).predict(X)
for labels in model.staged_predict(X, predictor="average"):
    print((labels == y).mean(), predict_or_reject(model, X, min_margin=0.5, rejected="?"))
model = OneVsAllKernelPerceptron(lambda left, right: left @ right.T, gamma=0.5)
BudgetPerceptron(budget=None).partial_fit(X, y, classes=["a", "b"]).decision_function(X).argmax()
OneVsAllKernelPerceptron(degree="3")  # wrong
OneVsAllKernelPerceptron(kernel=3)  # wrong
OneVsAllKernelPerceptron("rbf", 0.5)  # wrong
MulticlassPerceptron(max_iters=10)  # wrong
KernelRidgeClassifier(alpha=None)  # wrong
model.fit(X)  # wrong
model.fit(object(), y)  # wrong
model.predict(X, epoch="last")  # wrong
model.predict(X).lower()  # wrong
predict_or_reject(model, X, rejected="?")  # wrong
"""


def test_the_hints_of_kp_hold_inside_kp_and_refuse_each_wrong_line_of_a_user_and_no_right_one(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed; python3 bootstrap.py makes an environment that has it")
    program = tmp_path / "user.py"
    program.write_text(USER)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}", "--config-file=pyproject.toml", "kp", str(program)]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    wrong = [("user", number) for number, line in enumerate(USER.splitlines(), start=1) if line.endswith("# wrong")]
    found = {(Path(file).stem, int(line)) for file, line in re.findall(r"^(.+?):(\d+): error", done.stdout, re.MULTILINE)}
    assert done.returncode == 1 and sorted(found) == wrong, done.stdout + done.stderr


def public():
    """{name: function} of the functions that kp exports, and of the public methods of its classes."""
    found = {name: getattr(kp, name) for name in kp.__all__ if inspect.isfunction(getattr(kp, name))}
    for cls in (getattr(kp, name) for name in kp.__all__):
        for base in cls.__mro__ if inspect.isclass(cls) else ():
            for name, member in vars(base).items() if base.__module__.startswith("kp.") else ():
                function = getattr(member, "fget", None) or getattr(member, "fn", None) or member
                ours = inspect.isfunction(function) and function.__module__ == base.__module__
                written = ours and "<string>" not in function.__code__.co_filename  # by us, not by dataclass
                if written and (name == "__init__" or not name.startswith("_")):
                    found[f"{base.__module__}.{base.__name__}.{name}"] = function
    return found


def test_the_public_surface_has_hints_that_name_what_is_there():
    lacking = []
    for name, function in public().items():
        signature = inspect.signature(function, eval_str=True)
        hints = [each.annotation for each in signature.parameters.values() if each.name not in ("self", "cls")]
        if inspect.Signature.empty in [*hints, signature.return_annotation]:
            lacking.append(name)
    assert len(public()) > 40 and lacking == []


def test_signatures_name_the_types_of_the_hints_as_they_are_written():
    shown = {name: str(inspect.signature(function)) for name, function in public().items()}
    assert {name for name, text in shown.items() if "numpy." in text or "scipy." in text} == set()
    assert "X: 'Data'" in shown["kp.estimator.Classifier.fit"] and "'KernelChoice'" in str(
        inspect.signature(kp.OneVsAllKernelPerceptron)
    )
