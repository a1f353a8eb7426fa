"""The predictors that the study compares, in the order of its tables; a predictor that is added to kp is not among them."""

PREDICTORS = ("final", "average", "minimizing", "voted")
