"""Claims: a number that a source publishes, our number, and a verdict; the ledger of all is data/results/claims.csv.

One row for every published number that can fail: what is true by construction, such as the size of a split that we take from
its source, has none. A published number printed with d decimals stands for the values that round to it. The verdict is

    exact            ours is one of these values
    within           one of them lies in [low, high], whose source of variation is named in `interval_of`
    outside          none does; `explanation` says why, as far as we know, and `chapter` where it is argued
    not comparable   ours is of other data or another quantity than the published number; `explanation` says which

`kind` is "printed" (the number stands in the source), "files" (in result files that the source published) or "derived" (it
follows from printed ones); same_data is whether ours is of the source's own data; `choices` is how many settings or
readings were tried before this one was kept, 1 where nothing was chosen. A number that is exact or within although more
than one was tried was found by a search: `by_source` counts such numbers. Counts of test errors have exact binomial
intervals (Clopper & Pearson 1934). percentile is the place of the published number in our distribution over repeats, where
there is one: the share of repeats below it, those equal to it counting half.

What does not change from run to run (key, item, quantity, published, decimals; kind, chapter, explanation and other columns
where they are not the usual ones) stands in the files of data/published, a row for each number; the chapters give ours by
key, and `beside` puts the two together.

What a number would be under other readings of a source is in a second table, data/results/claims_readings.csv, under the
key of its row. What a source says in words is in a third, data/results/claims_statements.csv: a row for each statement with
its verdict, one of STATEMENT_VERDICTS, and the numbers it rests on. Rows come from the chapters: study/<chapter>/claims.py
has claims() and, where there are any, readings() and statements(); study.ledger puts them together.
"""

import tomllib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from study import RESULTS, ROOT
from study.reading import noted
from study.results import store

TABLES = ("claims", "readings", "statements")
FILES = tuple(RESULTS / name for name in ("claims.csv", "claims_readings.csv", "claims_statements.csv"))
VERDICTS = ("exact", "within", "outside", "not comparable")
KINDS = ("printed", "files", "derived")
COLUMNS = (
    "key", "source", "item", "quantity", "kind", "published", "decimals", "ours", "low", "high", "interval_of", "n",
    "same_data", "choices", "verdict", "percentile", "explanation", "chapter",
)  # fmt: skip
STATEMENT_VERDICTS = ("holds", "holds in part", "does not hold", "undecided")
STATEMENTS = ("key", "source", "place", "statement", "verdict", "evidence", "chapter")
READINGS = ("key", "reading", "ours", "low", "high", "n", "verdict", "percentile")


def rounded(number, decimals):
    """A number with these decimals as text; "" if it is missing."""
    return "" if number != number else f"{number:.{decimals}f}"


def percentile(values, number):
    """The share of values (n,) below a number, those equal to it counting half; in 0..1."""
    values = np.asarray(values, dtype=float)
    return float(((values < number) + 0.5 * (values == number)).mean())


def verdict(published, ours, low, high, *, decimals=0, comparable=True):
    """One of VERDICTS for each published number (arrays or numbers); decimals as printed."""
    published, ours, low, high = (np.asarray(x, dtype=float) for x in (published, ours, low, high))
    half = 0.5 * 10.0 ** -np.asarray(decimals, dtype=float)
    # Half a unit of the last place, and the little that keeps decimal fractions from falling out by their binary rounding.
    reach = half * (1 + 1e-9)
    inside = (low <= published + reach) & (published - reach <= high)
    words = np.where(np.abs(published - ours) <= reach, "exact", np.where(inside, "within", "outside"))
    return np.where(comparable, words, "not comparable")


def of_parts(parts):
    """The verdict on a statement of several parts, each of which is true or false, or true in this share of the cases."""
    parts = list(parts)
    return "holds" if all(part == 1 for part in parts) else "holds in part" if any(parts) else "does not hold"


def judged(frame, **marks):
    """The frame with the verdict on each of its published numbers, from its columns published, ours, low and high.

    A verdict that a row of the frame has stays; marks are the options of `verdict`.
    """
    found = pd.Series(verdict(*(frame[name] for name in ("published", "ours", "low", "high")), **marks), frame.index)
    return frame.assign(verdict=frame["verdict"].fillna(found) if "verdict" in frame else found)


def beside(printed, ours):
    """The rows of a file of data/published with ours: a table, or records, of key and whatever of ours, low, high, n,
    interval_of, percentile, explanation they have. Raises MergeError if a key occurs twice; rows without ours are left
    out."""
    return printed.merge(pd.DataFrame(ours), on="key", validate="one_to_one")


def exactly(value):
    """{ours, low, high} of a number that no chance is part of."""
    return dict.fromkeys(("ours", "low", "high"), value)


def rows(frame, *, source, chapter):
    """Rows of the ledger from a frame with the columns item, quantity, published, ours, low, high, n, and perhaps others.

    key is required and unique, and so is interval_of where low and high differ. kind ("printed"), same_data (True),
    choices (1), decimals (0), percentile (missing), comparable (True), explanation ("") and chapter have defaults, also in a
    column of the frame in the rows that lack a value; so has the verdict, which is `judged`.
    """
    defaults = {
        "kind": "printed", "interval_of": "", "same_data": True, "choices": 1, "decimals": 0, "percentile": np.nan,
        "comparable": True, "explanation": "", "chapter": chapter,
    }  # fmt: skip
    full = pd.DataFrame(defaults, index=frame.index)
    full = full.assign(source=source, **frame)
    full = full.fillna({name: value for name, value in defaults.items() if name != "percentile"})
    full = full.astype({"same_data": bool, "comparable": bool, "choices": int, "decimals": int})
    return judged(full, decimals=full["decimals"], comparable=full["comparable"])[list(COLUMNS)]


def readings_rows(frame, ledger):
    """Rows of the table of readings from a frame with the columns key, reading, ours, low, high, n (percentile, verdict).

    ledger holds the rows with these keys: their published numbers give the verdicts.
    """
    full = frame.merge(ledger[["key", "published", "decimals"]], on="key", validate="many_to_one")
    full = pd.DataFrame({"percentile": np.nan}, index=full.index).assign(**full)
    return judged(full, decimals=full["decimals"])[list(READINGS)]


@dataclass(frozen=True)
class Statement:
    """A claim of a source in words: its key in the ledger, source, place, its text, the verdict that a person has given
    it, and the evidence, a text with {names} of values and their formats."""

    key: str
    source: str
    place: str
    says: str
    verdict: str
    evidence: str


def written(room):
    """(statements, explanations) of study/<room>/statements.toml: a list of Statement, and {key: text} of why a number of
    the ledger is what it is."""
    text = noted(ROOT / "study" / room / "statements.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    statements = [Statement(**each) for each in found.get("statement", [])]
    return statements, found.get("explanations", {})


def explanations(room):
    """{key: text} of the explanations of numbers that stand in study/<room>/statements.toml."""
    return written(room)[1]


def statement_rows(room, found, *, chapter):
    """Rows of the table of statements: those of study/<room>/statements.toml, in their order.

    found {end of the key: (verdict, {name: value})} has the verdict that follows from the results (study/<room>/facts.py),
    and the values that the evidence names; the end is what follows the last /. Raises ValueError where keys differ, or a
    computed verdict is not the written one: then a person reads the numbers and writes the sentence again.
    """
    statements = {each.key.rpartition("/")[2]: each for each in written(room)[0]}
    if differ := set(statements) ^ set(found):
        raise ValueError(f"statements.toml of {room} and its code must have the same keys, got {', '.join(sorted(differ))}")
    rows = []
    for end, each in statements.items():
        verdict, values = found[end]
        if verdict not in STATEMENT_VERDICTS or verdict != each.verdict:
            raise ValueError(
                f"{each.key}: the written verdict must be that of the results, one of {', '.join(STATEMENT_VERDICTS)}; "
                f"written {each.verdict!r}, found {verdict!r}; read the numbers and rewrite the sentence"
            )
        evidence = " ".join(each.evidence.format(**values).split())
        rows.append((each.key, each.source, each.place, each.says, verdict, evidence, chapter))
    return pd.DataFrame(rows, columns=list(STATEMENTS))


def judged_twice(said):
    """The keys of statements that have a verdict more than once: of one source, and with the same name or the same words.

    A name is the part of a key after its last /. said: rows of the table of statements.
    """
    name = said["key"].str.rpartition("/")[2]
    words = said["statement"].str.casefold().str.replace(r"\W+", " ", regex=True).str.strip()
    twice = [pd.DataFrame({"source": said["source"], "same": each}).duplicated(keep=False) for each in (name, words)]
    return said.loc[twice[0] | twice[1], "key"].tolist()


def searched(ledger):
    """(n,) bool: True if exact or within, and found by a search: more than one setting or reading was tried."""
    return ledger["verdict"].isin(["exact", "within"]) & (ledger["choices"] > 1)


def by_source(ledger, statements):
    """A row for each source, and one for "all": numbers, each of VERDICTS, statements, each of STATEMENT_VERDICTS.

    "of these after a search" counts how many of the numbers that are exact or within were found by a search.
    """
    numbers = pd.crosstab(ledger["source"], ledger["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    words = pd.crosstab(statements["source"], statements["verdict"]).reindex(columns=list(STATEMENT_VERDICTS), fill_value=0)
    numbers.insert(0, "numbers", numbers.sum(axis=1))
    numbers.insert(3, "of these after a search", searched(ledger).groupby(ledger["source"]).sum())
    words.insert(0, "statements", words.sum(axis=1))
    table = numbers.join(words, how="outer").fillna(0).astype(int)
    table = table.reindex(pd.concat([ledger["source"], statements["source"]]).unique())
    table.loc["all"] = table.sum()
    return table.rename_axis(index="source", columns=None)


def stored():
    """(ledger, readings, statements) as stored, without asking whether they are fresh: the tests do."""
    return tuple(store.read_table(path) for path in FILES)
