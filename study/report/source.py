"""What is known of a source notebook before it is run: its parameters, and the captions of its figures and tables."""

import ast
import json
from dataclasses import dataclass

from study import ROOT

HEAD_SPACE = "&nbsp; |"
"""How each head of a table ends in a notebook: JupyterLab leaves almost no space between neighbouring heads."""


@dataclass(frozen=True)
class Source:
    """Facts of a source notebook that are known before it is run.

    parameters : {name: default} in their order; before : names that are assigned in code above the parameters; captions :
    {name: "Figure" or "Table"} of what it shows with a caption, in order. What a function figure_NAME makes is a figure,
    and so is the attribute figure of axes, or figure_ of a scikit-learn display.
    """

    parameters: dict
    before: set
    captions: dict

    @classmethod
    def read(cls, source):
        """That of notebooks/<source>.ipynb."""
        # Plain JSON: the reader of notebooks takes longer to import than some of them to run.
        cells = json.loads((ROOT / "notebooks" / f"{source}.ipynb").read_text(encoding="utf-8"))["cells"]
        tags = [cell["metadata"].get("tags", []) for cell in cells]
        code = [ast.parse("".join(cell["source"])) if cell["cell_type"] == "code" else ast.Module([], []) for cell in cells]
        (place,) = (index for index, each in enumerate(tags) if "parameters" in each)
        assigned = [
            (target.id, ast.literal_eval(statement.value))
            for statement in code[place].body
            for target in getattr(statement, "targets", None) or [statement.target]
        ]
        stored = {
            node.id
            for tree in code[:place]
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        named = [(name, code[index - 1]) for index, each in enumerate(tags) for name in captioned(each)]
        return cls(dict(assigned), stored, {name: "Figure" if _draws(above) else "Table" for name, above in named})

    def names(self, kind):
        """The names of its figures, or tables, in order."""
        return [name for name, each in self.captions.items() if each == kind]


def captioned(tags):
    """The names in a text cell's tags caption:NAME: one at most."""
    return [tag.partition(":")[2] for tag in tags if tag.startswith("caption:")]


def _draws(tree):
    """Whether the last expression of a cell calls a function figure_NAME, or is the figure of axes or of a display."""
    last = getattr(tree.body[-1], "value", None) if tree.body else None
    if isinstance(last, ast.Attribute):
        return last.attr in ("figure", "figure_")
    return isinstance(last, ast.Call) and ast.unparse(last.func).rpartition(".")[2].startswith("figure_")
