"""Rows of the stored tables that give a number: they are found by the number before it was rounded.

A tidy table has its keys first: the shortest run of first columns in which no two rows agree. A number may be a cell of
another column, or a count divided by its n ("errors / n"); a mean of these over rows that agree in some keys; or the
difference between two such means, of groups that differ in one key.

A short number such as 0.0154 can agree with a row by chance. So rows count only if no others give the number, and if few
candidates are near it for the fractions that lie there (CHANCE). Where several rows give it, those count that have the keys
which the code behind the number names ("RBF SVM", degree 3).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import combinations

import numpy as np
import pandas as pd

from study import ROOT

CHANCE = 0.05
"""Expected number of candidates that agree with a number by chance, at most."""
NEAR = 0.2
"""Candidates near a number differ from it by up to this share of it."""
EQUAL = 1e-10
"""Relative difference of equal numbers: the last digits depend on the order of additions."""
DENOMINATOR = 100_000
"""The largest denominator by which a number is taken for a fraction."""
LEVELS = 25
"""A key with more values is no key of groups that are compared."""
MOST_DROPPED = 2
"""Rows of a group differ in up to so many keys."""
CELL, MEAN = "", "mean of "


@dataclass(frozen=True)
class Found:
    """Rows of a table that give a number.

    table : its name; how : what is taken of them, "errors / n", "mean of errors / n", "difference in mean of errors / n";
    columns : those that say which rows they are, and those that are taken; lines : their lines in the file, for each group.
    """

    table: str
    how: str
    columns: tuple
    lines: tuple


@cache
def found(number, names, words=frozenset()):
    """The Found of a number in the first of the tables that gives it, or None.

    names : of the tables, relative to the project, the nearest first. words : texts and numbers in the code behind it.
    """
    for form in (_cells, _means, _differences):
        for name in names:
            result = _only(number, _table(name), form, words) if number else None
            if result is not None:
                return result or None
    return None


@dataclass(frozen=True, eq=False)
class _Table:
    """A table with the names of its keys, and {name: (N,) float} of what may be taken of its rows."""

    name: str
    frame: pd.DataFrame
    keys: tuple
    quantities: dict

    @cached_property
    def levels(self):
        """The keys as whole numbers that stand for their values."""
        return {key: pd.factorize(self.frame[key], use_na_sentinel=False)[0] for key in self.keys}

    @cached_property
    def varying(self):
        """The keys of more than one value."""
        return tuple(key for key, levels in self.levels.items() if levels.any())

    def groups(self, keys):
        """The number of each row's group, of the rows that agree in these keys."""
        place = np.zeros(len(self.frame), int)
        for key in keys:
            place = np.unique(place * (len(self.frame) + 1) + self.levels[key], return_inverse=True)[1]
        return place


@cache
def _table(name):
    frame = pd.read_csv(ROOT / name)
    runs = (list(frame.columns[:count]) for count in range(1, len(frame.columns)))
    keys = next((run for run in runs if not frame.duplicated(run).any()), [])
    numeric = [column for column in frame.select_dtypes("number") if column not in keys]
    quantities = {column: frame[column].to_numpy(float) for column in numeric if frame[column].nunique() > 1}
    sizes = [column for column in numeric if column == "n" or column.startswith("n_")]
    for size in sizes:
        n = frame[size].to_numpy(float)
        for column in numeric:
            counts = frame[column].to_numpy(float)
            if column not in sizes and (counts <= n).all() and (counts % 1 == 0).all() and (n > 0).all():
                quantities[f"{column} / {size}"] = counts / n
    return _Table(name, frame, tuple(keys), quantities)


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Numbers that a table gives in one way: values (m,), the first row of each (m,), the keys in which its rows agree, and
    rows(i), the rows of the ith, a tuple of groups."""

    what: str
    quantity: str
    values: np.ndarray
    first: np.ndarray
    kept: tuple
    rows: object


@cache
def _cells(table):
    """Single rows."""
    rows = np.arange(len(table.frame))
    return [_Candidates(CELL, name, values, rows, table.keys, _row) for name, values in table.quantities.items()]


def _row(i):
    return ((int(i),),)


@cache
def _means(table):
    """Means of groups of several rows."""
    found = []
    counts = range(1, 1 + min(MOST_DROPPED, len(table.varying)))
    for dropped in (each for count in counts for each in combinations(table.varying, count)):
        kept = tuple(key for key in table.varying if key not in dropped)
        place = table.groups(kept)
        sizes = np.bincount(place)
        order = np.argsort(place, kind="stable")
        starts = np.cumsum(sizes) - sizes
        for name, values in table.quantities.items():
            means = np.where(sizes > 1, np.bincount(place, values) / sizes, np.nan)
            found.append(_Candidates(MEAN, name, means, order[starts], kept, partial(_group, order, starts, sizes)))
    return found


def _group(order, starts, sizes, i):
    return (tuple(order[starts[i] : starts[i] + sizes[i]].tolist()),)


@cache
def _differences(table):
    """Differences between two rows, or the means of two groups, that agree in all keys but one."""
    found = []
    for each in [*_cells(table), *_means(table)]:
        for key in each.kept:
            levels = table.levels[key][each.first]
            if not 0 < levels.max() < LEVELS:
                continue
            others = tuple(other for other in each.kept if other != key)
            place = table.groups(others)[each.first]
            grid = np.full((place.max() + 1, levels.max() + 1), -1)
            grid[place, levels] = np.arange(len(place))
            one, two = (grid[:, side].ravel() for side in np.triu_indices(grid.shape[1], 1))
            both = (one >= 0) & (two >= 0)
            one, two = one[both], two[both]
            values = each.values[one] - each.values[two]
            pairs = partial(_pair, each.rows, one, two)
            found.append(_Candidates(f"difference in {each.what}", each.quantity, values, each.first[one], others, pairs))
    return found


def _pair(rows, one, two, i):
    return rows(one[i]) + rows(two[i])


def _only(number, table, form, words):
    """The Found of the only rows that give a number; None if none do, and False if these may be others, or chance."""
    is_signed = form is not _differences
    near = []
    for each in form(table):
        values = each.values if is_signed else np.abs(each.values)
        value = number if is_signed else abs(number)
        close = np.flatnonzero(np.abs(values - value) <= NEAR * abs(value))
        near.append((each, close, np.abs(values[close] - value) <= EQUAL * abs(value)))
    if not any(equal.any() for *_, equal in near):
        return None
    for fitting in ({}, _fitting(table, words)):
        hits = {}
        count = 0
        for each, close, equal in near:
            fits = np.ones(len(close), bool)
            for key in set(each.kept) & set(fitting):
                fits &= fitting[key][each.first[close]]
            count += np.count_nonzero(fits)
            for i in close[fits & equal]:
                hits.setdefault(each.rows(i), each)
        rows = max(hits, key=lambda rows: sum(map(len, rows)), default=())
        is_only = all(set(other[0]) <= set(rows[0]) and set(other[-1]) <= set(rows[-1]) for other in hits)
        if rows and is_only and count / len(hits) * _step(number) <= CHANCE * 2 * NEAR * abs(number):
            each = hits[rows]
            lines = tuple(tuple(row + 2 for row in group) for group in rows)
            return Found(table.name, each.what + each.quantity, (*table.varying, *each.quantity.split(" / ")), lines)
    return False


def _fitting(table, words):
    """{key: which rows have a value of it that the code names}, for the keys of which it names any."""
    found = {key: table.frame[key].isin(words).to_numpy() for key in table.varying}
    return {key: rows for key, rows in found.items() if rows.any()}


def _step(number):
    """The distance between fractions with the denominator of a number; that of full precision if it is no short fraction."""
    near = Fraction(number).limit_denominator(DENOMINATOR)
    return 1 / near.denominator if abs(near - Fraction(number)) <= EQUAL * abs(number) else 1 / DENOMINATOR**2
