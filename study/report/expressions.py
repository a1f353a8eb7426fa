"""Values in words: Markdown with MyST's inline expressions, {eval}`name` or {eval}`percent(rate)`, and its conditions.

Lines "% holds: condition" at the head of a text, comments of MyST, say what must be true of a run for the text to be so.
A link [](#name) becomes the label of the figure or table of that name, "Figure 2". No line breaks between a number and %.

An expression is a name, an attribute, an item or one short call of these; what it needs is computed in the cells above it.
Its value must be a text or a whole number: others are given a form first (study.words). In the words it shows as text,
with any content.
"""

import ast
import re
from numbers import Integral, Real
from typing import NamedTuple

from study.report.references import addressed, cites
from study.report.source import captioned

KEPT = "kept"
LEFT_OUT = "left out"
"""Outcome of a text in a run: it is kept, or it speaks of another run or says what does not hold."""
FINDING = re.compile(r"\*\*.+?\*\*\s*", re.DOTALL)
"""The first sentence of a caption, in bold, which says what is found; the others say what is shown."""
EXPRESSION = re.compile(r"\{eval\}`([^`\n]+)`")
HEAD = re.compile(r"\A((?:%[^\n]*\n)+)\n*")
"""The comments before a text."""
CONDITION = re.compile(r"% holds: (.+)")
LABEL = re.compile(r"\[\]\(#([\w-]+)\)")
PLACE = re.compile(f"{EXPRESSION.pattern}|{LABEL.pattern}")
LABELLED = "(?:Figure|Table)\N{NO-BREAK SPACE}[0-9]+"
"""What a label becomes: "Figure 2"."""
SHAPES = {r"\S+\s%": re.compile(r"percent\("), r"[^ \n]+(?<!\\)": re.compile(r"number\(|len\(|([\w.]+\.)?n(_\w+)?$")}
"""What the values of some expressions look like: percentages, and counts, in one word."""
ASKED = {"published", "caption"}
"""Tags with which it depends on the run what a text says."""
UNIT = re.compile(r"^(`{3,}).*?^\1|`[^`\n]*`|(?<=\d) (?=%|GiB)", re.DOTALL | re.MULTILINE)
"""Code, and the blank between a number and its unit."""
PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Tuple, ast.Starred, ast.UnaryOp, ast.USub, ast.expr_context,
    ast.Call, ast.keyword,
)  # fmt: skip
"""Parts of an expression."""
LONGEST = 60
"""Characters of an expression."""
FORMS = "study.words"
"""The module whose functions give numbers a form."""
ESTIMATES = ("estimate", "error", "median", "ratio")
"""How a number is called that has an interval, low to high, beside it: by the first of these names that is there."""
LIST = re.compile(r"^(\s*\d+)([.)])(?=\s|$)")
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^$&!@]|-(?=-)|(?<=-)-)")
"""What Markdown reads as more than itself; of hyphens in a row, as in --option, a document would make a dash."""


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
        raise ValueError(f"expected a text or a whole number, got {shown[:80]}; format it with study.words")
    return re.sub(r"[ \t\r\n]+", " ", found)


def exact(text, shell):
    """{expression: [number, low, high]} of the expressions of a text, as texts with all digits, "" where there is none: the
    number that study.words gives a form, or that stands there as it is, and the ends of its interval. Those without any are
    left out."""
    found = {each: _exact(ast.parse(each, mode="eval").body, shell) for each in expressions(text)}
    return {each: numbers for each, numbers in found.items() if any(numbers)}


def _exact(tree, shell):
    is_form = isinstance(tree, ast.Call) and getattr(shell.ev(ast.unparse(tree.func)), "__module__", "") == FORMS
    node = tree.args[0] if is_form and tree.args else tree
    if isinstance(node, ast.Call | ast.Starred):  # a call is not made twice
        return ["", "", ""]
    number = around = shell.ev(ast.unparse(node))
    if not isinstance(number, Real):
        number = _part(around, _estimate(around))
    elif isinstance(node, ast.Attribute | ast.Subscript):
        name = node.attr if isinstance(node, ast.Attribute) else shell.ev(ast.unparse(node.slice))
        around = shell.ev(ast.unparse(node.value))
        around = around if _estimate(around) == name else None
    return [_digits(each) for each in (number, _part(around, "low"), _part(around, "high"))]


def _estimate(found):
    """The name of the number of which low and high are the interval, or ""."""
    return next((name for name in ESTIMATES if isinstance(_part(found, name), Real)), "")


def _part(found, name):
    """An item of a row or a dict, an attribute of anything else; None if there is none."""
    return found.get(name) if hasattr(found, "get") else getattr(found, name, None)


def _digits(number):
    """A number as text with all digits; "" for anything else."""
    if not isinstance(number, Real) or number != number:
        return ""
    return str(int(number)) if isinstance(number, Integral) else repr(float(number))


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


def unbroken(text):
    """A text in Markdown with no-break spaces between numbers and their units, except in code."""
    return UNIT.sub(lambda found: "\N{NO-BREAK SPACE}" if found[0] == " " else found[0], text)


def places(words, text):
    """[(expression, start, end)] of the values in a text that was filled from words, both with citations by keys, in order.

    Values in headings are left out. Empty where the text is not that of the words, or leaves open where a value ends.
    """
    source = HEAD.sub("", words)
    pattern = rf"(?:\*\*{LABELLED}\.\*\* )?"
    names = []
    end = 0
    for found in PLACE.finditer(source):
        pattern += _literally(source[end : found.start()])
        if found[1] is None:
            pattern += LABELLED
        else:
            group = f"v{names.index(found[1]) if found[1] in names else len(names)}"
            kind = next((shape for shape, name in SHAPES.items() if name.match(found[1])), "VALUE")
            pattern += f"((?P={group}))" if found[1] in names else f"(?P<{group}>{kind})"
            pattern += r"\\?"  # a number that begins a line begins no list
            names.append(found[1])
        end = found.end()
    pattern += _literally(source[end:])
    first, last = (re.fullmatch(pattern.replace("VALUE", rf"[^\n]+{few}(?<!\\)"), text) for few in ("?", ""))
    if not first or first.groups() != last.groups():
        return []
    spans = [(name, *first.span(place)) for place, name in enumerate(names, start=1)]
    return [each for each in spans if not text[: each[1]].rpartition("\n")[2].startswith("#")]


def _literally(words):
    """The pattern of words, whichever space is before a unit."""
    return re.sub(r"\\ (?=%|GiB)", r"\\s", re.escape(words))


def conditions(text):
    """The conditions of a text: that of line n is the nth. Raises ValueError for another comment before the text."""
    head = HEAD.match(text)
    lines = head[1].splitlines() if head else []
    for line in lines:
        if not CONDITION.fullmatch(line):
            raise ValueError(f"a comment before a text must be '% holds: condition', got {line!r}; correct it")
    return [CONDITION.fullmatch(line)[1] for line in lines]


LOOKUPS = ("IndexError", "KeyError", "LookupError")
"""Errors of an expression that looks up what a run lacks."""


def depends(text, tags):
    """Whether what a text cell says depends on the run, or is not what stands in the source."""
    own = expressions(text) or conditions(text) or LABEL.search(text) or cites(text)
    return bool(own) or bool({tag.partition(":")[0] for tag in tags} & ASKED)


class Said(NamedTuple):
    """What a text says in a run. outcome: KEPT or LEFT_OUT; text: in words; output: what changes in the output above it, by
    kind; false: what does not hold."""

    outcome: str
    text: str
    output: dict
    false: str


def said(text, tags, shell):
    """What a text says, a `Said`, in its kernel.

    shell is IPython's; its attribute chapter, if it has one, is the open chapter (study.report.display), which knows labels.
    What does not hold is given with the values that this run has, and with its conditions that are false; so is, in a run
    that is not published, a text that looks up what the run lacks (LookupError: a degree, say). Of a caption only the
    finding is left out, if this run has all values of the rest. Raises ValueError for an expression or a condition without
    a value else, and in the published run for a condition that is false.
    """
    chapter = getattr(shell, "chapter", None)
    is_published = chapter is not None and chapter.published
    label, output = "", {}
    for name in captioned(tags) if chapter else ():
        label, output = chapter.named(name)
    if "published" in tags and not is_published:
        return Said(LEFT_OUT, "", output, "")
    own = expressions(text)
    results = shell.user_expressions({each: each for each in own})
    untrue = _untrue(conditions(text), shell, LookupError if chapter and not is_published else ())
    words = HEAD.sub("", text)
    if chapter:
        words = LABEL.sub(lambda found: chapter.label(found[1]), words)
    if untrue and is_published:
        lines = "; ".join(f"line {line}, % holds: {condition}" for line, condition in untrue)
        raise ValueError(f"false in the published run: {lines}; read what is shown above the text, and rewrite the sentence")
    if chapter and not is_published:
        untrue = untrue or [(0, each) for each in own if results[each].get("ename") in LOOKUPS]
    before = f"**{label}.** " if label else ""
    if untrue:
        known = {each: results[each] for each in own if _has_value(results[each])}
        finding = FINDING.match(words) if captioned(tags) else None
        rest = words[finding.end() :] if finding else ""
        kept = bool(rest) and known.keys() >= set(expressions(rest))
        open_ = EXPRESSION.sub(lambda match: match[0] if match[1] in known else "…", finding[0].strip() if kept else words)
        why = ", ".join(f"`{condition}`" for _, condition in untrue)
        false = f"{_put(open_, known)} (False: {why}.)"
        if not kept:
            return Said(LEFT_OUT, "", output, false)
        return Said(KEPT, before + _put(rest, results), output, false)
    return Said(KEPT, before + _put(words, results), output, "")


def _put(words, results):
    return unbroken(addressed(filled(words, results)))


def _untrue(found, shell, lacking):
    """[(line, condition)] of the conditions that are false in the kernel, or raise an error that says that the run lacks
    something. After one, others need have no value."""
    untrue = []
    for line, condition in enumerate(found, start=1):
        try:
            if not shell.ev(condition):
                untrue.append((line, condition))
        except lacking:
            untrue.append((line, condition))
        except Exception as error:
            if not untrue:
                raise ValueError(f"line {line}, % holds: {condition}: {type(error).__name__}: {error}") from None
    return untrue


def _has_value(result):
    try:
        return bool(value(result))
    except ValueError:
        return False
