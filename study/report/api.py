"""The public classes and functions of kp as one page, from their docstrings, with signatures as they are written.

pdoc makes the page. Our lists of parameters are lines "name : description", which it would read as "name : type"; here they
become lists of its Markdown. Methods that estimators have from bases in kp stand with each of them.
"""

import ast
import re
import textwrap
from pathlib import Path

import pdoc
import pdoc.doc
import pdoc.render

import kp
from kp import budget, delta_rule, hints, mistakes, output_codes
from study import store

BESIDES = (budget.OnlineKernelClassifier, output_codes.SharedTraining, mistakes.Log, delta_rule.DeltaLog)
"""What the docstrings refer to without kp naming it."""

SCIKIT_LEARNS = re.compile(r"(?!__init__$)_|set_\w+_request$|get_metadata_routing$")


class Written(str):
    """A hint as it is written in the source."""

    __repr__ = str.__str__


def write(target):
    """Write the page to a file."""
    pdoc.render.configure(docformat="markdown", show_source=False, search=False, footer_text=f"kp {kp.__version__}")
    module = _prepared(pdoc.doc.Module(kp))
    store.write(target, pdoc.render.html_module(module, {"kp": module}))


def _prepared(module):
    """The module with what is to be shown of it."""
    for each in BESIDES:
        module.members[each.__name__] = pdoc.doc.Class("kp", each.__name__, each, (each.__module__, each.__qualname__))
    shown = [module.members[name] for name in (*kp.__all__, *(each.__name__ for each in BESIDES))]
    module.own_members, module.members = shown, {each.name: each for each in shown}
    heading = "In signatures, where `Sparse` is a matrix or array of SciPy:"
    module.docstring = f"{module.docstring}\n\n{heading}\n\n{textwrap.indent(_aliases(), '    ')}"
    for each in shown:
        each.docstring = markdown(each.docstring)
        if isinstance(each, pdoc.doc.Class):
            each.own_members = [m for m in each.members.values() if _is_ours(m)]
            for member in each.own_members:
                member.docstring = markdown(member.docstring)
        for function in (each, *getattr(each, "own_members", ())):
            if isinstance(function, pdoc.doc.Function) and function.source:
                function.signature = _as_written(function)
    return module


def _is_ours(member):
    return member.taken_from[0].startswith("kp") and not SCIKIT_LEARNS.match(member.name)


def _aliases():
    """The definitions of `kp.hints` as they are written."""
    tree = ast.parse(Path(hints.__file__).read_text(encoding="utf-8"))
    return "\n".join(ast.unparse(statement) for statement in tree.body if isinstance(statement, ast.Assign))


def _as_written(function):
    """The signature with the names of types in place of what they stand for."""
    (node,) = ast.parse(textwrap.dedent(function.source)).body
    written = {each.arg: Written(ast.unparse(each.annotation)) for each in ast.walk(node.args) if _is_annotated(each)}
    signature = function.signature
    parameters = [each.replace(annotation=written.get(each.name, each.annotation)) for each in signature.parameters.values()]
    returned = Written(ast.unparse(node.returns)) if node.returns else signature.return_annotation
    return signature.replace(parameters=parameters, return_annotation=returned)


def _is_annotated(node):
    return isinstance(node, ast.arg) and node.annotation is not None


def markdown(docstring):
    """A docstring of kp as Markdown: headings of sections, and their lists of "name : description"."""
    heading, *sections = re.split(r"^(\w+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        if name != "Examples":
            text = re.sub(r"\n +", " ", text)
            text = re.sub(r"^(\S.*?) : ", r"- **\1**: ", text, flags=re.MULTILINE)
        heading += f"\n\n**{name}**\n\n{text}"
    return re.sub(r"\n(?=>>>)", "\n\n", heading, count=1)
