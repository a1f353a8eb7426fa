"""The hints of kp hold inside, and refuse what a user gets wrong."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

USER = """
import numpy as np
from scipy.sparse import csr_array

from kp import BudgetPerceptron, MulticlassPerceptron, OneVsAllKernelPerceptron, predict_or_reject

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
BudgetPerceptron(budget=None, kernel=3)  # wrong
model.fit(X)  # wrong
model.fit(object(), y)  # wrong
model.predict(X, epoch="last")  # wrong
model.predict(X).lower()  # wrong
predict_or_reject(model, X, rejected="?")  # wrong
"""


LATER = [pytest.param(version, marks=pytest.mark.long) for version in ("3.12", "3.13", "3.14")]


@pytest.mark.parametrize("version", ["3.11", *LATER])
def test_the_hints_of_kp_hold_inside_kp_and_refuse_each_wrong_line_of_a_user_and_no_right_one(version, tmp_path):
    """As each version of Python reads them: mypy needs no other interpreter than its own."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed; python3 bootstrap.py makes an environment that has it")
    program = tmp_path / "user.py"
    program.write_text(USER)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={os.devnull}", "--config-file=pyproject.toml"]
    command += [f"--python-version={version}", "kp", str(program)]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    wrong = [("user", number) for number, line in enumerate(USER.splitlines(), start=1) if line.endswith("# wrong")]
    found = {(Path(file).stem, int(line)) for file, line in re.findall(r"^(.+?):(\d+): error", done.stdout, re.MULTILINE)}
    assert done.returncode == 1 and sorted(found) == wrong, done.stdout + done.stderr
