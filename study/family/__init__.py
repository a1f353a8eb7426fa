"""The chapter on the family of the kernel perceptron (encyclopedia article)."""
