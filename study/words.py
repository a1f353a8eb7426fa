"""Numbers as words have them: numbers in sentences, in tables and on axes have one form, made here.

Rates are fractions in code and percent in words; differences of rates are percentage points. A comparison is anything with
`estimate`, `low` and `high`: a study.statistics.Difference, or a row of a table of them.
"""

import math
import numbers

import pandas as pd

from study.levels import ALPHA
from study.parameters import listed

MINUS = "\N{MINUS SIGN}"


def styled(frame, formats=None):
    """A copy of a table as notebooks show it (study.report.display): formats maps columns to a format specification (".2%")
    or a function of the value. Raises ValueError if it names a column that frame lacks.
    """
    if unknown := sorted(set(formats or {}) - set(frame.columns)):
        raise ValueError(f"formats must name columns of the table, {list(frame.columns)}, got {unknown}")
    frame = frame.copy()
    frame.attrs["formats"] = formats or {}
    return frame


def percent(rate, digits=2):
    """A rate in percent: "1.58 %"."""
    return f"{_signed(100 * rate, digits)} %"


def points(difference, digits=2):
    """A difference of rates in percentage points, with its sign and without the unit: "+0.08". Also of a comparison."""
    return _signed(100 * _estimate(difference), digits, plus=True)


def size(difference, digits=2):
    """How large a difference of rates is, in percentage points, without sign and unit: "0.08". Also of a comparison."""
    return _signed(abs(100 * _estimate(difference)), digits)


def interval(comparison, digits=2):
    """The interval of a difference in percentage points: "−0.09 to +0.24"."""
    return f"{points(comparison.low, digits)} to {points(comparison.high, digits)}"


def size_interval(difference, digits=2):
    """The interval of a size in percentage points, in its direction: "6.35 to 11.33" beside 8.84 if the estimate is −8.84.
    It has signs only if it reaches to the other side of 0: "−0.04 to +0.29"."""
    ends = [difference.low, difference.high] if difference.estimate >= 0 else [-difference.high, -difference.low]
    return " to ".join((points if ends[0] < 0 else size)(end, digits) for end in ends)


def with_interval(comparison, digits=2):
    """A difference in percentage points with its interval, where it has one: "+0.08 (−0.09 to +0.24)"; "" without any."""
    if not math.isfinite(comparison.estimate):
        return ""
    if not math.isfinite(comparison.high - comparison.low):
        return points(comparison, digits)
    return f"{points(comparison, digits)} ({interval(comparison, digits)})"


def rate_interval(comparison, digits=2):
    """The interval of a rate: "1.37 % to 1.80 %"."""
    return f"{percent(comparison.low, digits)} to {percent(comparison.high, digits)}"


def intervals(comparisons, digits=2):
    """The ends of several intervals in percentage points, the lowest and the highest: "−1.20 to +2.30". comparisons: a table
    with low and high, or some comparisons."""
    table = comparisons if isinstance(comparisons, pd.DataFrame) else pd.DataFrame(list(comparisons))
    low, high = table["low"].min(), table["high"].max()
    return f"{points(low, digits)} to {points(high, digits)}"


def between(row, digits=0):
    """The ends of a range that has no unit: "22 to 32". row: anything with low and high."""
    return f"{number(row.low, digits)} to {number(row.high, digits)}"


def span(values, digits=2):
    """The smallest and the largest of some differences of one sign, in percentage points: "0.52 to 0.95", or "0.52"."""
    found = sorted(float(size(value, digits)) for value in values)
    first = f"{found[0]:.{digits}f}"
    last = f"{found[-1]:.{digits}f}"
    return first if first == last else f"{first} to {last}"


def number(value, digits=0):
    """A number with a comma for thousands: "12,345", "0.71"."""
    return _signed(value, digits)


def significant(value, digits=3):
    """A number with so many significant digits, and a comma for thousands: "1,260", "0.515"."""
    rounded = float(f"{value:.{digits}g}")
    decimals = digits - 1 - math.floor(math.log10(abs(rounded))) if rounded else 0
    return _signed(rounded, max(decimals, 0))


def in_a_row(values):
    """Ascending whole numbers: "2 to 6" if they are three or more in a row, and otherwise `listed`."""
    found = list(values)
    if len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]} to {found[-1]}"
    return listed(found)


def p_value(p):
    """p in a sentence: "p = 0.031", "p < 0.001", "p = 1.0"; as many digits as show on which side of ALPHA it lies."""
    cell = p_cell(p)
    return f"p {cell}" if cell.startswith("<") else f"p = {cell}"


def p_cell(p):
    """The same in a table, whose head says p: "0.031", "< 0.001", "1.0"; "0.0495" where three digits would give ALPHA."""
    if p < 0.001:
        return "< 0.001"
    if p > 0.9995:
        return "1.0"
    digits = 3
    while (float(f"{p:.{digits}f}") < ALPHA) != (p < ALPHA):
        digits += 1
    return f"{p:.{digits}f}"


def _estimate(difference):
    return difference if isinstance(difference, numbers.Real) else difference.estimate


def _signed(value, digits, *, plus=False):
    """value with this many decimals, a minus sign that is one, and on demand a plus; no sign before zero."""
    if not math.isfinite(value):
        raise ValueError(f"a number in a sentence must be finite, got {value}")
    text = f"{abs(value):,.{digits}f}"
    if not float(text.replace(",", "")):
        return text
    return f"{MINUS if value < 0 else '+' if plus else ''}{text}"
