"""The lists of dependencies agree with each other and with what is imported; so do versions in several files."""

import ast
import functools
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_digits
from trees import nodes

import kp

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = DECLARED["project"]
GROUPS = DECLARED["dependency-groups"]


def direct_dependencies(*groups):
    """Requirement texts of the package and of groups."""
    return [*PROJECT["dependencies"], *(text for group in groups for text in GROUPS[group])]


def name(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement).group().lower().replace("_", "-")


def test_environment_yml_lists_the_packages_and_bounds_of_pyproject():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (pip,) = (entry["pip"] for entry in listed if isinstance(entry, dict))
    conda = [entry for entry in listed if isinstance(entry, str)]
    assert sorted(conda + pip) == sorted(["python=3.11", "pip", "-e .", *direct_dependencies("study", "test")])


RUN_ONLY = {
    "jupyter": "opens them",
    "jupyterlab-myst": "shows values in JupyterLab",
    "mypy": "a command",
    "ruff": "a command",
    "setuptools": "builds the package",
    "snakemake": "a command",
    "pypandoc-binary": "imported as pypandoc",
}
"""What is needed without being imported under its name."""


distributions = functools.cache(importlib.metadata.packages_distributions)


@functools.cache
def modules(path):
    """The top names that a Python file or a source notebook imports."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    found = list(ast.walk(ast.parse(text))) if path.suffix == ".ipynb" else nodes(path)
    names = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in found if isinstance(node, ast.ImportFrom)}
    return {module.partition(".")[0] for module in names}


def imported(*patterns):
    """The distributions of what files import from outside, the standard library aside."""
    found = set().union(*(modules(path) for pattern in patterns for path in ROOT.glob(pattern)))
    found -= {"kp", "study", "oracles", "trees"} | {
        path.stem for name in ("benchmarks", "workflow") for path in (ROOT / name).glob("*.py")
    }
    # What is not installed goes by its own name.
    apart = {"pypandoc", "mpl_toolkits", "sklearnex"}
    return {name(distributions().get(module, [module])[0]) for module in found - sys.stdlib_module_names - apart}


def test_what_is_imported_is_declared_and_the_reverse():
    core = {name(requirement) for requirement in PROJECT["dependencies"]}
    plot = {name(requirement) for requirement in PROJECT["optional-dependencies"]["plot"]}
    assert imported("kp/*.py") == core | plot
    study = core | {name(requirement) for requirement in GROUPS["study"]}
    used = imported("study/**/*.py", "notebooks/*.ipynb")
    assert used <= study, used - study
    everything = study | {name(requirement) for requirement in GROUPS["test"]}
    used = imported("kp/*.py", "study/**/*.py", "notebooks/*.ipynb", "tests/**/*.py", "benchmarks/*.py", "notebooks/*.py")
    assert used <= everything, used - everything
    assert everything - used == set(RUN_ONLY), (everything - used) ^ set(RUN_ONLY)


def test_the_lock_pins_and_hashes_every_package_and_names_no_address():
    lock = (ROOT / "requirements.lock.txt").read_text()
    packages = re.split(r"\n(?=\S)", lock.strip())
    for package in packages:
        assert re.match(r"[a-z0-9._-]+==\S+ .*\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n?)+\Z", package), package[:100]
    needed = {name(requirement) for requirement in direct_dependencies("study", "test", "setup")}
    assert needed <= {name(package) for package in packages}
    assert "://" not in lock


def test_versions_agree_in_all_files():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    version, date = re.search(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).groups()
    assert PROJECT["version"] == str(citation["version"]) == version
    assert str(citation["date-released"]) == date
    assert PROJECT["license"] == citation["license"] == "BSD-3-Clause"


def test_the_long_description_of_the_wheel_has_no_links_into_the_checkout():
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert [target for target in re.findall(r"\]\(([^)]*)\)", text) if not target.startswith(("https://", "#"))] == []


def test_the_summary_of_the_package_has_all_that_it_exports():
    assert {name for name in kp.__all__ if not re.search(rf"^ {{4}}.*\b{name}\b", kp.__doc__, re.MULTILINE)} == set()


def copy_project(folder):
    for name in ("kp", "study", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "bootstrap.py"):
        shutil.copy(ROOT / name, folder)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """{kind: an open wheel} of a copy of the project, as it is built to be installed and for an editable installation."""
    folder = tmp_path_factory.mktemp("wheels")
    copy_project(folder)
    program = "from setuptools import build_meta as b; b.build_wheel('wheel'); b.build_editable('editable')"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {kind: zipfile.ZipFile(*(folder / kind).glob("*.whl")) for kind in ("wheel", "editable")}


def test_the_wheel_has_the_algorithms_alone_and_needs_what_they_import(wheels):
    wheel = wheels["wheel"]
    files = {path for path in wheel.namelist() if ".dist-info/" not in path}
    assert files == {f"kp/{path.name}" for path in [*(ROOT / "kp").glob("*.py"), ROOT / "kp" / "py.typed"]}
    (path,) = (path for path in wheel.namelist() if path.endswith(".dist-info/METADATA"))
    needed = re.findall(r"^Requires-Dist: (.*)$", wheel.read(path).decode(), re.MULTILINE)
    assert {name(each) for each in needed} == imported("kp/*.py")


def test_an_editable_installation_has_the_study_too(wheels):
    (path,) = (path for path in wheels["editable"].namelist() if path.endswith(".pth"))
    assert (Path(wheels["editable"].read(path).decode().strip()) / "study" / "__init__.py").is_file()


@pytest.mark.long
def test_the_wheel_runs_its_readme_in_an_empty_folder(wheels, tmp_path):
    wheels["wheel"].extractall(tmp_path / "installed")
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, values in zip("Xy", load_digits(return_X_y=True), strict=True):  # the files that are too large for memory
        np.save(empty / f"{name}.npy", values)
    parts = re.findall(r"```python\n(.*?)```", (ROOT / PROJECT["readme"]).read_text("utf-8"), re.DOTALL)
    program = "\n".join([*parts, "import kp; print(kp.__file__, kp.__version__)"])
    command = [sys.executable, "-P", "-c", program]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    score, file, version = done.stdout.split()
    assert float(score) > 0.95 and Path(file).is_relative_to(tmp_path) and version == PROJECT["version"]
    assert {path.name for path in empty.iterdir()} == {"X.npy", "y.npy"}
