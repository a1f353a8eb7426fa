"""Property tests try the same examples in every run; HYPOTHESIS_PROFILE=search tries others."""

import gc
import json
import os

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_collection_finish():
    """Leave what was imported out of later collections of garbage."""
    gc.freeze()


@pytest.fixture
def foreign_kernel(tmp_path, monkeypatch):
    """JUPYTER_PATH has a kernel of the name python3 that ends at once."""
    folder = tmp_path / "share" / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["false", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
