"""Small tables behind the abstract, the introduction and the conclusion: the ledger in numbers, source by source."""

import re

import pandas as pd

from study import ROOT, chapters, claims, costs, datasets
from study.report.display import listed

SOURCES = {
    "hermans": "Hermans 2021",
    "xu-zhang": "Xu & Zhang 2005",
    "akar-ye": "Akar & Ye 2017",
    "course-page": "Course page",
    "family": "Encyclopedia article",
}
"""The name in the ledger of the source of each report."""

SUBJECTS = {
    "xu-zhang": "Xu and Zhang (2005) learn all classes in one procedure with a kernel and test it on four benchmark sets. "
    "Their algorithm is shown here to be the ordinary multiclass perceptron in the squared kernel matrix; their tables are "
    "set into distributions over draws of the folds, under every reading of what the text leaves open.",
    "akar-ye": "Akar and Ye (2017) classify seeds of wheat by least squares with a self-tuning kernel. Their accuracies, "
    "found on one split, are reproduced and set into distributions over random splits, and the kernel is examined.",
    "course-page": "A course page derives the delta rule, output codes and the kernel perceptron, with examples in the "
    "plane and on digits. They are run as they are written, in many visiting orders.",
    "family": "An encyclopedia article names the relatives of the kernel perceptron: learners on a budget, with "
    "regularisation, with votes. They are run on one stream of digits, and what the article says of them is measured.",
}
"""What the report of a source is about: no result."""


def from_files(ledger):
    """How many counts of errors of all classes, of single classes, and confusion matrices there are in the files of Hermans
    (2021); ValueError unless all are exact."""
    rows = ledger[ledger["kind"] == "files"]
    if not (rows["verdict"] == "exact").all():
        raise ValueError(f"counts in files must all be exact, got {rows['verdict'].value_counts().to_dict()}")
    matrices = claims.published("hermans_2021_confusion")[["degree", "epoch", "predictor"]].drop_duplicates()
    return (
        len(claims.published("hermans_2021_multiclass_errors")),
        len(claims.published("hermans_2021_binary_errors")),
        len(matrices),
    )


def accuracies(ledger):
    """How many of the nine accuracies of Akar and Ye's table are exact."""
    rows = ledger[(ledger["source"] == "Akar & Ye 2017") & (ledger["item"] == "Table 3")]
    return int((rows["verdict"] == "exact").sum())


def outcomes(counted):
    """The rows of `claims.by_source` but "all", of the numbers that can fail: can_fail, exact, good (exact or within)."""
    rows = counted.drop(index="all")
    fail = rows["exact"] + rows["within"] + rows["outside"]
    return pd.DataFrame({"can_fail": fail, "exact": rows["exact"], "good": rows["exact"] + rows["within"]})


def counted_as(count, one, many):
    """ "1 number", "22 numbers"."""
    return f"{count} {one if count == 1 else many}"


def parts(row, verdicts):
    """ "exact (10) and outside (1)": the verdicts of a row of `claims.by_source` that are not 0, with their counts."""
    return listed([f"{verdict} ({row[verdict]})" for verdict in verdicts if row[verdict]])


VERBS = {
    "higher": "is higher",
    "lower": "is lower",
    "the same": "is the same within 0.05 points",
    "–": "does not differ detectably",
}
"""How a verdict of the chapter on visiting orders reads."""


def by_degree(rows):
    """ "is higher at degree 2 (+0.25 points) and 5 (+0.12), does not differ detectably at degree 4 (+0.01; -0.06 to +0.07)":
    the rows of `orders.tables.differences_to`, with the interval where no difference is detected."""
    parts = []
    for verdict, verb in VERBS.items():
        there, shown = rows[rows["verdict"] == verdict], []
        for row in there.itertuples():
            open_ended = "" if verdict in ("higher", "lower") else f"; {100 * row.low:+.2f} to {100 * row.high:+.2f}"
            unit = "" if shown else " points"
            shown.append(f"{row.degree} ({100 * row.estimate:+.2f}{unit}{open_ended})")
        if shown:
            parts.append(f"{verb} at degree{'s' * (len(shown) > 1)} {listed(shown)}")
    return listed(parts)


def sizes(rows):
    """(degrees, least, most): the degrees of the rows of `orders.tables.of_final` that are higher, as "2, 3 and 4", and the
    smallest and largest of their differences."""
    rows = rows[rows["verdict"] == "higher"]
    return listed(rows["degree"].tolist()), rows["estimate"].min(), rows["estimate"].max()


def judged(statements, keys):
    """The statements with these keys, in their order: source, statement, verdict, evidence. Raises KeyError for others."""
    rows = statements.set_index("key").loc[list(keys)].reset_index()
    return rows[["source", "statement", "verdict", "evidence"]]


def explained(ledger, verdict):
    """The numbers with a verdict: source, item, quantity, published, ours, explanation."""
    rows = ledger[ledger["verdict"] == verdict]
    return rows[["source", "item", "quantity", "published", "ours", "explanation"]].reset_index(drop=True)


def statements_list(rows):
    """The rows of `judged` as a Markdown list: source, statement, verdict, evidence."""
    return "\n".join(
        f"- {row.source}: *{row.statement.rstrip('.')}.* **{row.verdict.capitalize()}.** {row.evidence}"
        for row in rows.itertuples()
    )


def numbers_list(rows):
    """The rows of `explained` as a Markdown list: source, item, quantity, what is published, ours, why."""
    return "\n".join(
        f"- {row.source}, {row.item}, {row.quantity}: **{row.published:g}**, ours {row.ours:.4g}: {row.explanation}."
        for row in rows.itertuples()
    )


def data_sets():
    """A row for each registered data set: name, training, test, attributes, classes, licence, files."""
    rows = [
        (each.title, each.n_train, each.n_test or None, each.n_features, len(each.classes), each.licence.partition(",")[0],
         "downloaded" if each.files else "bundled")
        for each in datasets.DATASETS.values()
    ]  # fmt: skip
    names = ["data set", "training", "test", "attributes", "classes", "licence", "files"]
    return pd.DataFrame(rows, columns=names).astype({"test": "Int64"})


PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "numba", "matplotlib", "seaborn", "papermill", "nbval", "snakemake")


def software():
    """package and version of PACKAGES, from the lock file."""
    lock = (ROOT / "requirements.lock.txt").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([\w.-]+)==([\w.+-]+)", lock, re.MULTILINE))
    return pd.DataFrame([(name, found[name]) for name in PACKAGES], columns=["package", "version"])


def computing():
    """chapter (its number), results, experiments, minutes (of a processor), memory (GiB): what computing the stored results
    takes where it is known, chapter by chapter and together."""
    table = costs.by_chapter()
    plan = {each.name: each.number for each in chapters.CHAPTERS}
    table["number"] = [plan.get(name) or plan.get(f"{name}_summary") or plan["ledger"] for name in table["chapter"]]
    table["minutes"] = table["processor_seconds"] / 60
    whole = table[["experiments", "minutes"]].sum().to_dict() | {"chapter": "all", "memory": table["memory"].max()}
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True).fillna({"number": ""})
    table = table.rename(columns={"chapter": "results", "number": "chapter"})
    return table[["chapter", "results", "experiments", "minutes", "memory"]].astype({"experiments": int})


SYMBOLS = (
    (r"$x$, $d$", "an example, and the number of its attributes"),
    (r"$n$, $C$", "the number of training examples, and of classes"),
    (r"$y$, $z$", "a class, and a sign +1 or -1"),
    (r"$k(x, x')$, $K$", "a kernel, and the matrix of its values on the training examples"),
    (r"$p$, $\sigma$, $\gamma$", "degree and width of a kernel; the factor of its inner product or squared distance"),
    (r"$\alpha$", "the vector of mistakes: how often each example was added, with its sign"),
    (r"$A$, $T$", "all vectors that a run passes through, and the number of its visits"),
    (r"$f$, $F$", "the score of one perceptron, and of a class"),
    (r"$R$, $\gamma^*$", "the largest norm of an example in feature space, and the margin"),
    (r"$\lambda$, $\tau$", "the weight of a penalty; the scale of the self-tuning kernel"),
)
"""Symbol and meaning."""


def symbols():
    """The table of symbols."""
    return pd.DataFrame(SYMBOLS, columns=["symbol", "meaning"])
