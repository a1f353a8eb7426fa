"""Property tests try the same examples in every run; HYPOTHESIS_PROFILE=search tries others."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import settings

from study import ROOT  # asks for the same bytes on every CPU before NumPy is loaded

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


OWN_RUN = {"degree": 7, "n_train": 200, "n_epochs": 2, "n_small": 100, "n_literal": 50}


@pytest.fixture(scope="session")
def own_run(tmp_path_factory):
    """A run of mnist_degree with the parameters OWN_RUN, executed in an empty folder by the command that HANDIN.md gives."""
    target = tmp_path_factory.mktemp("student") / "my run.ipynb"
    options = [text for name, value in OWN_RUN.items() for text in ("-p", name, str(value))]
    command = [sys.executable, "-m", "study", "papermill", ROOT / "notebooks" / "mnist_degree.ipynb", target, *options]
    done = subprocess.run(command, cwd=target.parent, capture_output=True, text=True, env=os.environ | {"KP_OFFLINE": "1"})
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def foreign_kernel(tmp_path, monkeypatch):
    """JUPYTER_PATH has a kernel of the name python3 that ends at once."""
    folder = tmp_path / "share" / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["false", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
