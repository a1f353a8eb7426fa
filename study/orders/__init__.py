"""Visiting orders: how much of an error rate is chance, and what an honest choice of degree, epoch and predictor costs."""
