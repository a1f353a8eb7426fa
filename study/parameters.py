"""Values as a user types them: lists in the parameters of notebooks, names out of some, and switches that are on or off; and
how messages list them."""

import re

NUMBERS = {int: "whole numbers, or ranges as in 0:30 (30 is left out)", float: "numbers"}


def several(name, given, kind=str):
    """The values of a parameter that holds several, as a tuple of `kind`: int, float or str.

    given is a list, one value, or a text as it is typed for papermill, with blanks or commas between the values, with or
    without brackets: "1 2 3", "1,2,3" and "[1, 2, 3]" are the same. For whole numbers, 0:30 is a range without its end.
    Raises ValueError, which begins with `name`, for anything else and for an empty list.
    """
    refused = ValueError(
        f"{name}: expected a list of {NUMBERS.get(kind, 'words')}, got {given!r}; write it as text with blanks or commas "
        f'between the values, as in -p {name} "{"a b" if kind is str else "1 2"}"'
    )
    if isinstance(given, str):
        parts = words(given)
    else:
        parts = given if isinstance(given, list | tuple) else [given]
    try:
        found = tuple(value for part in parts for value in _values(part, kind))
    except (ValueError, TypeError):
        raise refused from None
    if not found:
        raise refused
    return found


def words(text):
    """The parts of a list that is typed with blanks or commas between them, with or without brackets and quotes."""
    text = text.strip()
    inner = text[1:-1].strip() if text[:1] + text[-1:] in ("[]", "()") else text
    return [re.sub(r"""^(['"])(.*)\1$""", r"\2", part) for part in re.split(r"\s*,\s*|\s+", inner)]


def _values(part, kind):
    """The values of one part of a list, several where it is a range. ValueError or TypeError if it has none."""
    if kind is str:
        if not isinstance(part, str) or not part or set(part) & set("[](){}'\""):
            raise ValueError
        return [part]
    if isinstance(part, str):
        return span(part) if kind is int and ":" in part else [kind(part)]
    if isinstance(part, bool) or not isinstance(part, int | kind):
        raise TypeError
    return [kind(part)]


def span(text):
    """The whole numbers of "a:b", b excluded. Raises ValueError if the range is not valid or is empty."""
    start, _, end = text.partition(":")
    if not (found := range(int(start), int(end))):
        raise ValueError(f"{text} is an empty range")
    return found


def listed(values, word="and", *, none="none"):
    """Names or numbers, the last after this word: "4", "3 or 4", "7, 8 and 9"; `none` if there are none."""
    if not (found := [*map(str, values)]):
        return none
    return f" {word} ".join([*filter(None, [", ".join(found[:-1])]), found[-1]])


def require_one_of(name, value, known):
    """Raise ValueError, which begins with `name`, unless the value is one of the known ones."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}")


def switch(name, given):
    """Whether a switch is on: True for 1, False for 0 or nothing. Raises ValueError for anything else."""
    if (text := str(given)) not in ("", "0", "1", "False", "True"):
        raise ValueError(f"{name}: expected 1 (on) or 0 (off), got {text!r}")
    return text in ("1", "True")
