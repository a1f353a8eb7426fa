"""How notebooks are executed: as papermill does it, and with the words' values in place.

When the run reaches a cell of Markdown, the kernel is asked what it says in this run (study.report.expressions). The
executed copy has the values in the text, and the source of the cell in its metadata. Tags say what becomes of such a cell:

    at-end        evaluated when the run is over, in its place: a summary may speak of what is computed later
    caption:NAME  of the figure or table that the cell before it shows last, which gets this name: its label is put in front
    published     speaks of the published run, and is left out in any other

Lines "% holds: condition" at the head of a text are not in the copy. If one is false, the published run fails, and any other
leaves the text out and lists it at the end. Parameters that papermill has put into a cell of their own stand in the cell
with the defaults. papermill knows the engine as "kp" where it was registered:
`python -m study papermill notebooks/mnist.ipynb out.ipynb -p n_orders 5` does so.
"""

import ast
import re
from itertools import pairwise

import nbformat
from nbclient.util import run_sync
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine

from study.report.expressions import HEAD, KEPT, Said, conditions, depends, exact, said, unbroken
from study.report.notebooks import OwnKernelManager, is_filled
from study.report.source import captioned

EXECUTED = (
    "this is an executed copy, whose text would keep its old values; "
    "add your cells to its source in notebooks/, and run that"
)
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
        _merge_parameters(nb_man.nb.cells)
        if nb_man.pbar:
            nb_man.pbar.total = len(nb_man.nb.cells)
        usual = {"kernel_manager_class": OwnKernelManager, "timeout": execution_timeout, "startup_timeout": start_timeout}
        return cls.client(nb_man, kernel_name=kernel_name, **(usual | options)).execute()

    @staticmethod
    def client(*arguments, **options):
        """The client that executes the cells."""
        return Client(*arguments, **options)


class Client(PapermillNotebookClient):
    """Executes code cells, and evaluates the expressions of text cells in the kernel at that moment."""

    def papermill_execute_cells(self):
        self.shown = nbformat.v4.new_code_cell()
        self.left_out = []
        self.tried = 0
        self.waiting = []
        if is_filled(self.nb):
            raise TextError(EXECUTED)
        try:
            super().papermill_execute_cells()
        except KeyboardInterrupt:
            self.shutdown_kernel = "immediate"  # asked to end within a cell, a kernel prints a traceback
            raise
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
        if cell.cell_type == "code" and cell.source.strip():
            self.shown = cell
        return await super().async_execute_cell(cell, cell_index, execution_count, store_history)

    execute_cell = run_sync(async_execute_cell)

    async def async_fill(self, cell):
        """Put the values into the text of a cell, or mark it as one that is left out; TextError where that fails."""
        try:
            if not depends(cell.source, tags(cell)):
                _replace(cell, unbroken(cell.source))
                return
        except ValueError as error:
            raise TextError(f"{error}, {self._named(cell)}") from None
        told, values = await self.asked(cell)
        self._change(told.output, cell)
        self.tried += bool(conditions(cell.source))
        if told.false:
            self.left_out.append(" ".join(told.false.split("\n")))
        if told.outcome != KEPT:
            cell.metadata.tags = [*tags(cell), LEFT_OUT]
            return
        cell.metadata["values"] = values
        _replace(cell, told.text)
        if captioned(tags(cell)):
            self._describe(told.text)

    fill = run_sync(async_fill)

    def _describe(self, caption):
        """A caption is also the description of the picture for readers who cannot see it."""
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"\*\*|\\(?=\W)", "", " ".join(caption.split())))
        for output in self.shown.outputs:
            if "image/png" in output.get("data", {}):
                output.metadata.setdefault("image/png", {})["alt"] = plain

    def _change(self, output, cell):
        """Give to the last output that shows a figure, or a table, what the caption in this cell makes of it."""
        for kind, content in output.items():
            kinds = {"image/png": ["image/png"], "text/markdown": ["text/markdown", "text/html"]}[kind]
            found = [each for each in self.shown.outputs if any(known in each.get("data", {}) for known in kinds)]
            if not found:
                raise TextError(
                    f"the cell of code above shows no figure or table, {self._named(cell)}; put the caption below it"
                )
            last = found[-1]
            if kind == "image/png":
                last.metadata.setdefault(kind, {}).update(content)
            else:
                last.data = {kind: content, "text/plain": last.data["text/plain"]}

    async def asked(self, cell):
        """Return the kernel's answers on a text cell: see said and exact of study.report.expressions."""
        calls = {"said": f"{_call(said, cell.source, tags(cell))}._asdict()", "exact": _call(exact, cell.source)}
        message = self.kc.execute("", silent=True, store_history=False, user_expressions=calls)
        while True:
            reply = await self.kc.shell_channel.get_msg(timeout=None)
            if reply["parent_header"].get("msg_id") == message:
                break
        told = Said(**self._answer(reply["content"], "said", cell))
        return told, self._answer(reply["content"], "exact", cell) if told.outcome == KEPT else {}

    def _answer(self, content, name, cell):
        """The value of one of the calls in a reply; TextError if it failed."""
        answer = content.get("user_expressions", {}).get(name, content)
        if answer["status"] != "ok":
            lost = "" if any(map(tags, self.nb.cells)) else "; no cell has a tag: copy the notebook from notebooks/ again"
            raise TextError(f"{answer['ename']}: {answer['evalue']}, {self._named(cell)}{lost}")
        return ast.literal_eval(answer["data"]["text/plain"])

    def _named(self, cell):
        place = next(number for number, each in enumerate(self.nb.cells, start=1) if each is cell)
        first = (HEAD.sub("", cell.source).strip().splitlines() or [""])[0][:80]
        return f"in cell {place}, the text that begins {first!r}"


def _replace(cell, text):
    """Give a text to a cell, which keeps its source where that differs."""
    if text != cell.source:
        cell.metadata.words = cell.source
        cell.source = text


def _call(function, *arguments):
    """The code of a call of a function in the kernel, with IPython's shell as its last argument."""
    module, name = function.__module__, function.__name__
    return f"__import__({module!r}, fromlist=[{name!r}]).{name}({', '.join(map(repr, arguments))}, get_ipython())"


def tags(cell):
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def _merge_parameters(cells):
    """Give the values in the cell that papermill has put after the parameters to the cell of the parameters."""
    for place, (cell, given) in enumerate(pairwise(cells), start=1):
        if "parameters" in tags(cell) and "injected-parameters" in tags(given):
            cell.source = with_values(cell.source, given.source)
            del cells[place]
            return


def with_values(defaults, given):
    """The code of a cell of parameters with the values that other code gives to their names; new names come at its end."""
    values = {each.targets[0].id: ast.get_source_segment(given, each.value) for each in ast.parse(given).body}
    lines = [line.encode() for line in defaults.splitlines()]
    for statement in reversed(ast.parse(defaults).body):
        target = getattr(statement, "targets", None) or [statement.target]
        if (value := values.pop(target[0].id, None)) is not None:
            old = statement.value
            after = lines[old.end_lineno - 1][old.end_col_offset :]
            lines[old.lineno - 1 : old.end_lineno] = [lines[old.lineno - 1][: old.col_offset] + value.encode() + after]
    return "\n".join([*(line.decode() for line in lines), *(f"{name} = {value}" for name, value in values.items())])


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
    head = f"{HEADING}\n\nOf {tried} texts that have conditions. Numbers are those of this run."
    return nbformat.v4.new_markdown_cell(
        f"{head}\n\n{lines}", metadata={"tags": [LISTED], "left_out": record, "papermill": {"status": "completed"}}
    )
