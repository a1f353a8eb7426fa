"""How notebooks are executed: as papermill does it, and with the words' values in place.

When the run reaches a cell of Markdown, the kernel is asked what it says in this run (study.report.expressions). The
executed copy has the values in the text, and the source of the cell in its metadata. Tags say what becomes of such a cell:

    at-end        evaluated when the run is over, in its place: a summary may speak of what is computed later
    caption       of the figure or table that the cell before it shows: its label is put in front
    holds:NAME    an outcome: kept if the condition that chapter.holds has under this name is true in this run
    published     speaks of the published run, and is left out in any other

What is left out for want of truth is listed at the end of the executed copy. papermill knows the engine as "kp" where it
was registered: `python -m study papermill notebooks/mnist.ipynb out.ipynb -p n_orders 5` does so.
"""

import ast
import re

import nbformat
from nbclient.util import run_sync
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine

from study.report.expressions import FALSE, KEPT, depends

LISTED = "statements"
"""The tag of the list of statements that do not hold."""
LEFT_OUT = "left-out"
"""The tag, during a run, of the cells that are not true of it."""
HEADING = "## Statements of the published study that do not hold in this run"


class TextError(ValueError):
    """Words that cannot have their values: the message names the text and its expression or condition."""


class Engine(NBClientEngine):
    """papermill's engine, with a client that fills in values."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, start_timeout=60, execution_timeout=None, **options):
        """Execute the notebook of nb_man; see papermill."""
        options.pop("input_path", None)
        options = {"timeout": execution_timeout, "startup_timeout": start_timeout} | options
        return cls.client(nb_man, kernel_name=kernel_name, **options).execute()

    @staticmethod
    def client(*arguments, **options):
        """The client that executes the cells."""
        return Client(*arguments, **options)


class Client(PapermillNotebookClient):
    """Executes code cells, and evaluates the expressions of text cells in the kernel at that moment."""

    def papermill_execute_cells(self):
        self.shown = nbformat.v4.new_code_cell()
        self.left_out = []
        self.tried = set()
        self.waiting = []
        if any("words" in cell.metadata for cell in self.nb.cells):
            raise TextError(
                "expected a notebook whose words have expressions, got an executed copy, whose words would keep their old "
                "values; run the one in notebooks/ that it was made from, with your cells in it"
            )
        super().papermill_execute_cells()
        if any(output.output_type == "error" for cell in self.nb.cells for output in cell.get("outputs", ())):
            return
        for cell in self.waiting:
            self.fill(cell)
        record = _record(self.nb.cells)
        self.nb.cells[:] = [cell for cell in self.nb.cells if LEFT_OUT not in tags(cell)]
        if self.left_out:
            self.nb.cells.append(_list(self.left_out, self.tried, record))

    async def async_execute_cell(self, cell, cell_index, execution_count=None, store_history=True):
        if cell.cell_type == "markdown":
            if "at-end" in tags(cell):
                self.waiting.append(cell)
            else:
                await self.async_fill(cell)
            return cell
        self.shown = cell
        return await super().async_execute_cell(cell, cell_index, execution_count, store_history)

    execute_cell = run_sync(async_execute_cell)

    async def async_fill(self, cell):
        """Put the values into the text of a cell, or mark it as one that is left out; TextError where that fails."""
        try:
            if not depends(cell.source, tags(cell)):
                return
        except ValueError as error:
            raise TextError(f"{error}, {_named(cell)}") from None
        what, text = await self.asked(cell)
        names = [tag for tag in tags(cell) if tag.startswith("holds:")]
        self.tried.update(names)
        if what != KEPT:
            cell.metadata.tags = [*tags(cell), LEFT_OUT]
            if what == FALSE:
                self.left_out.append(" ".join(text.split("\n")))
            return
        if text != cell.source:
            cell.metadata.words = cell.source
            cell.source = text
        if "caption" in tags(cell):
            self._describe(text)

    fill = run_sync(async_fill)

    def _describe(self, caption):
        """A caption is also the description of the picture for readers who cannot see it."""
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"\*\*|\\(?=\W)", "", " ".join(caption.split())))
        for output in self.shown.outputs:
            if "image/png" in output.get("data", {}):
                output.metadata.setdefault("image/png", {})["alt"] = plain

    def _has_label(self):
        """Whether what was shown last is a figure or a table of the chapter: others have no label in the notebook."""
        return any(
            "alt" in output.get("metadata", {}).get("image/png", {})
            or output.get("data", {}).get("text/markdown", "")[:1] == "|"
            for output in self.shown.outputs
        )

    async def asked(self, cell):
        """Return the kernel's answer on a text cell: see study.report.expressions.said."""
        said = "__import__('study.report.expressions', fromlist=['said']).said"
        own = [tag for tag in tags(cell) if tag != "caption" or self._has_label()]
        call = f"{said}({cell.source!r}, {own!r}, get_ipython(), globals().get('chapter'))"
        message = self.kc.execute("", silent=True, store_history=False, user_expressions={"said": call})
        while True:
            reply = await self.kc.shell_channel.get_msg(timeout=None)
            if reply["parent_header"].get("msg_id") == message:
                break
        answer = reply["content"].get("user_expressions", {}).get("said", reply["content"])
        if answer["status"] != "ok":
            lost = "" if any(map(tags, self.nb.cells)) else "; no cell has a tag: copy the notebook from notebooks/ again"
            raise TextError(f"{answer['ename']}: {answer['evalue']}, {_named(cell)}{lost}")
        return ast.literal_eval(answer["data"]["text/plain"])


def tags(cell):
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def _named(cell):
    first = (cell.source.strip().splitlines() or [""])[0][:80]
    return f"in the text that begins {first!r}"


def _record(cells):
    """The cells that are left out, each with the number of cells of code before it: from it the run can be repeated."""
    found = []
    after = 0
    for cell in cells:
        after += cell.cell_type == "code"
        if LEFT_OUT in tags(cell):
            found.append({"after": after, "source": cell.source, "tags": [each for each in tags(cell) if each != LEFT_OUT]})
    return found


def _list(sentences, tried, record):
    """The cell that lists them, with the record of what was left out in its metadata."""
    lines = "\n".join(f"- {each}" for each in sentences)
    head = f"{HEADING}\n\nOf {len(tried)} statements that were tried. Numbers are those of this run."
    return nbformat.v4.new_markdown_cell(
        f"{head}\n\n{lines}", metadata={"tags": [LISTED], "left_out": record, "papermill": {"status": "completed"}}
    )
