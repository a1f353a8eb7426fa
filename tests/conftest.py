"""Property tests try the same examples in every run; HYPOTHESIS_PROFILE=search tries others."""

import gc
import json
import os

import pytest
from hypothesis import settings

import study.report  # noqa: F401  before any reader of notebooks: it keeps the grammar of web addresses out

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_runtest_setup():
    """What was imported, compiled and read before is left out of later collections of garbage: statsmodels makes one in each
    correction by Holm, which would take longer than most tests."""
    gc.freeze()


@pytest.fixture
def foreign_kernel(tmp_path, monkeypatch):
    """JUPYTER_PATH has a kernel of the name python3 that ends at once."""
    folder = tmp_path / "share" / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["false", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))


@pytest.fixture
def fork(monkeypatch):
    """From its call on and in this test, kernels are forked from this process."""
    from jupyter_client.provisioning import KernelProvisionerFactory
    from matplotlib import pyplot

    from study import reading
    from study.report import forked

    factory = KernelProvisionerFactory.instance()
    monkeypatch.setattr(factory, "default_provisioner_name", factory.default_provisioner_name)
    # As in a command that has read and drawn nothing yet but what study.style reads: other tests have, and pyplot keeps the
    # backend of its first figure, and figures that are open.
    monkeypatch.setattr(forked, "READ", set())
    monkeypatch.setattr(reading, "READ", {"study/style.mplstyle"})
    pyplot.close("all")
    monkeypatch.setattr("matplotlib.pyplot._backend_mod", None)
    return lambda: forked.use(["study.style"])
