"""Levels of the study's tests and intervals, fixed before any was made."""

LEVEL = 0.95
ALPHA = 0.05
