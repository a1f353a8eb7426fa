"""Notebooks are brought into the form that is committed."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from study.report.notebooks import METADATA, clean, tidy


def with_output(**output):
    """A one-cell notebook with one output."""
    return new_notebook(cells=[new_code_cell("x", outputs=[new_output(**output)])])


def test_clean_drops_timings_ids_and_metadata_and_joins_streams():
    streams = [new_output("stream", text=text) for text in ("a\n", "b\n")]
    cell = new_code_cell("x", outputs=streams, execution_count=7)
    cell.metadata.update(papermill={"duration": 1.5}, execution={"start": "now"}, tags=["parameters"])
    notebook = new_notebook(
        cells=[cell], metadata={"papermill": {"input_path": "x"}, "kernelspec": {"name": "mine", "display_name": "x"}}
    )
    cleaned = clean(notebook)
    assert cleaned.cells[0].metadata == {"tags": ["parameters"]}
    assert [output.text for output in cleaned.cells[0].outputs] == ["a\nb\n"]
    assert cleaned.cells[0].execution_count == 7
    assert cleaned.metadata.kernelspec.name == "python3"
    assert "papermill" not in cleaned.metadata
    assert clean(cleaned) == cleaned
    assert len(notebook.cells[0].outputs) == 2


@pytest.mark.parametrize(
    "text",
    [
        str(Path.home() / "file"),
        str(Path(__file__).parents[1]),
        "/home/somebody/x.py:3",
        "/Users/somebody/x",
        r"C:\Users\somebody",
        "/tmp/ipykernel_1/3.py",
        "lib/python3.11/site-packages/numpy",
    ],
)
def test_clean_refuses_paths_of_a_machine(text):
    for notebook in (
        with_output(output_type="stream", name="stdout", text=f"read {text}\n"),
        with_output(output_type="display_data", data={"text/plain": text}),
        new_notebook(cells=[new_code_cell(f"folder = {text!r}")]),
    ):
        with pytest.raises(ValueError, match="same on every machine"):
            clean(notebook)


def test_tidy_brings_a_source_saved_by_jupyter_into_its_plain_form(tmp_path):
    cell = new_code_cell("x", outputs=[new_output("stream", name="stderr", text="odd")], execution_count=3)
    metadata = {"language_info": {"name": "python", "version": "3.12.1"}}
    nbformat.write(new_notebook(cells=[cell], metadata=metadata), tmp_path / "a.ipynb")
    tidy(tmp_path / "a.ipynb")
    notebook = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    (cell,) = notebook.cells
    assert (cell.id, cell.metadata, cell.outputs, cell.execution_count) == ("0", {}, [], None)
    assert notebook.metadata == METADATA
