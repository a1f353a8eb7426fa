"""The protocol of course assignments on kernel perceptrons, on any registered dataset."""
