"""What Hermans 2021 says about visiting orders, with the verdict and the numbers that it rests on."""

from study import claims, datasets, statistics
from study.orders import tables
from study.orders.experiment import CURVED, N_ORDERS, runs, settings

SOURCE, CHAPTER, PLACE = "Hermans 2021", "orders", "final report, section 7"


def statements():
    """The row of the table of statements; see study.claims."""
    results, labels = runs(settings()), datasets.load("mnist").class_indices_test
    predictions = [arrays["predictions"] for arrays in results["arrays"][:N_ORDERS]]
    found = tables.ensembles(predictions, labels, CURVED)
    spread = tables.spread(results["runs"], results["runs"]["epoch"].max()).query(
        "degree > 1 and predictor == @tables.CONTROL"
    )
    told = found["p of Fisher's test"] < statistics.ALPHA
    better = (found["p"] < statistics.ALPHA) & (found["estimate"] < 0)
    row = {
        "key": "hermans-2021/statement/ensemble",
        "place": PLACE,
        "statement": "An ensemble over visiting orders would give uncertainties, of a prediction and of the error rates.",
        "verdict": "holds" if told.all() else "holds in part" if told.any() else "does not hold",
        "evidence": f"{N_ORDERS} orders, average predictor, last epoch, p = 2 to 6. Where all orders agree, on "
        f"{found['unanimous'].min():.1%} to {found['unanimous'].max():.1%} of the test images, one order misreads "
        f"{found['error there'].min():.2%} to {found['error there'].max():.2%}, elsewhere {found['elsewhere'].min():.0%} to "
        f"{found['elsewhere'].max():.0%}; told apart at {told.sum()} of {len(found)} degrees (Fisher). An error rate has a "
        f"standard deviation over orders of {100 * spread['sd'].min():.2f} to {100 * spread['sd'].max():.2f} points. The "
        f"majority is told to err less than one order at {better.sum()} of {len(found)} degrees.".replace("%", " %"),
    }
    return claims.statement_rows([row], source=SOURCE, chapter=CHAPTER)
