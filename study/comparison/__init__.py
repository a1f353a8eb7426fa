"""The chapter that compares the multiclass perceptrons with each other and with reference methods."""
