"""What Xu and Zhang (2005) report of others in words, and what this comparison has to say to it."""

from study import claims as ledger
from study.comparison import experiment, tables
from study.statistics import p_value

SOURCE, CHAPTER = "Xu & Zhang 2005", "comparison"


def statements():
    """Two findings on support vector machines that the introduction reports; perceptrons alone are tried here.

    One-vs-all is their one-against-other, the ordinary form their all-together, both without thresholds.
    """
    errors = experiment.compare(experiment.FULL)["errors"]
    forms = tables.over_sets(tables.by_method(tables.chosen_rates(errors)), tables.form_pairs())
    support = tables.support_vectors(errors)
    ratio, low, high, logs = tables.support_ratio(support, "ordinary, off", "one-vs-all, off")
    rows = [
        _row(
            "support-vectors", "all-together methods need fewer support vectors (Hsu and Lin, as reported)",
            f"Of perceptrons, the number in the all-together form {logs.word(tie=tables.NOT_TOLD)} that in one-vs-all: "
            f"{ratio:.2f} times as many over {len(support)} sets ({low:.2f} to {high:.2f}, {p_value(logs.p)}).",
        ),
        _row(
            "accuracy", "all-together is generally more accurate than one-against-other on small sets (Franc and Hlaváč, as "
            "reported), or both very similar (Hsu and Lin, as reported)",
            f"Of perceptrons without thresholds {tables.verdict(forms, ('one-vs-all', 'off'))}.",
        ),
    ]  # fmt: skip
    return ledger.statement_rows(rows, source=SOURCE, chapter=CHAPTER)


def _row(name, statement, evidence):
    evidence = f"Support vector machines are not compared here. {evidence}"
    key = f"xu-zhang-2005/comparison/{name}"
    return {"key": key, "place": "I", "statement": statement, "verdict": "cannot be told", "evidence": evidence}
