"""Values in words: Markdown with MyST's inline expressions, {eval}`name` or {eval}`percent(rate)`.

An expression is a name, an attribute, an item or one short call of these; what it needs is computed in the cells above it.
Its value must be a text or a whole number: others are given a form first (study.words). In the words it shows as text,
with any content.
"""

import ast
import re

from study.report.references import addressed, cites

KEPT = "kept"
LEFT_OUT = "left out"
FALSE = "false"
"""Outcome of a text in a run: it is kept, or it speaks of another run, or it says what does not hold."""
EXPRESSION = re.compile(r"\{eval\}`([^`\n]+)`")
ASKED = {"holds", "published", "caption"}
"""Tags with which it depends on the run what a text says."""
PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Tuple, ast.Starred, ast.UnaryOp, ast.USub, ast.expr_context,
    ast.Call, ast.keyword,
)  # fmt: skip
"""Parts of an expression."""
LONGEST = 60
"""Characters of an expression."""
LIST = re.compile(r"^(\s*\d+)([.)])(?=\s|$)")
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^$&!@])")


def expressions(text):
    """The expressions of a text, each once, in their order.

    Raises ValueError for one that is more than a name or one short call.
    """
    found = list(dict.fromkeys(EXPRESSION.findall(text)))
    for each in found:
        if len(each) > LONGEST or not _is_short(each):
            raise ValueError(
                f"an expression in the text must be a name or one call of at most {LONGEST} characters, got {each!r}; "
                "compute it in the code cell above and name it"
            )
    return found


def _is_short(expression):
    """True for names, attributes and items of these, and for one call whose arguments are such or constants."""
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        return False
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return all(isinstance(node, PLAIN) for node in nodes) and calls in ([], [tree])


def value(result):
    """The text of what the kernel answers to one expression (`user_expressions`).

    Raises ValueError with the error of an expression that fails, and for a value that is neither a text nor a whole number.
    """
    if result["status"] != "ok":
        raise ValueError(f"{result['ename']}: {result['evalue']}")
    shown = result["data"].get("text/plain", "")
    number = re.fullmatch(r"(?:np\.(?:u?int|float)\d+\()?(-?\d+)(?:\.0)?\)?", shown)
    if number:
        return f"{int(number[1]):,}".replace("-", "\N{MINUS SIGN}")
    try:
        found = ast.literal_eval(re.sub(r"^np\.str_\((.*)\)$", r"\1", shown, flags=re.DOTALL))
    except (SyntaxError, ValueError):
        found = None
    if not isinstance(found, str):
        raise ValueError(f"expected a text or a whole number, got {shown[:80]}; give it a form (study.words)")
    return re.sub(r"[ \t\r\n]+", " ", found)


def filled(text, results):
    """The text with the value of each expression in place: results {expression: what the kernel answers}.

    A value is escaped, so that Markdown or HTML in it shows as text, and a number that begins a line begins no list. Raises
    ValueError with the expression that fails.
    """

    def put(match):
        try:
            return escaped(value(results[match[1]]))
        except ValueError as error:
            raise ValueError(f"{{eval}}`{match[1]}`: {error}") from None

    lines = [
        LIST.sub(r"\1\\\2", EXPRESSION.sub(put, line)) if line.lstrip().startswith("{eval}") else EXPRESSION.sub(put, line)
        for line in text.split("\n")
    ]
    return "\n".join(lines)


def escaped(text):
    """A text as Markdown that shows it as it is."""
    return SPECIAL.sub(r"\\\1", text)


def depends(text, tags):
    """Whether what a text cell says depends on the run, or is not what stands in the source."""
    return bool(expressions(text)) or cites(text) or bool({tag.partition(":")[0] for tag in tags} & ASKED)


def said(text, tags, shell, chapter=None):
    """(what becomes of it, what it says) of a text cell with these tags, in the kernel that runs its notebook.

    shell is IPython's, chapter the open chapter (study.report.display), which labels captions and knows what holds. A text
    that is false is given with the values that this run has. Raises ValueError for an expression or a condition without a
    value.
    """
    own = expressions(text)
    names = [tag.partition(":")[2] for tag in tags if tag.startswith("holds:")]
    if "published" in tags and not chapter.published:
        return LEFT_OUT, ""
    results = shell.user_expressions({each: each for each in own})
    if not all([chapter.is_kept(name) for name in names]):
        known = {each: results[each] for each in own if _has_value(results[each])}
        open_ = EXPRESSION.sub(lambda match: match[0] if match[1] in known else "…", text)
        return FALSE, addressed(filled(open_, known))
    label = f"**{chapter.shown}.** " if "caption" in tags else ""
    return KEPT, label + addressed(filled(text, results))


def _has_value(result):
    try:
        return bool(value(result))
    except ValueError:
        return False
