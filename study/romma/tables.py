"""Li & Long's Table 1 next to ours, from the rows of the ledger."""

COLUMNS = {
    **{("test error (%)", epoch): (f"error (%), T = {epoch}", ".2f") for epoch in range(1, 5)},
    **{("mistakes of all learners", epoch): (f"mistakes, T = {epoch}", ",.0f") for epoch in (1, 4)},
}
"""The columns that are shown, by what is counted and the epoch."""


def side_by_side(rows):
    """A row for each learner: "printed | ours" of its errors, and of its mistakes after the first and the last epoch."""
    parts = rows["quantity"].str.extract(r"(?P<learner>.*), (?P<what>.*) after epoch (?P<epoch>\d)")
    table = parts[["learner"]].drop_duplicates().set_index("learner")
    for (what, epoch), (name, form) in COLUMNS.items():
        own = rows[(parts["what"] == what) & (parts["epoch"] == str(epoch))]
        texts = [f"{row.published:{form}} | {row.ours:{form}}" for row in own.itertuples()]
        table[name] = dict(zip(parts.loc[own.index, "learner"], texts, strict=True))
    return table.reset_index()
