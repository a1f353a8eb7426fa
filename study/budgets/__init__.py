"""The chapter on budgets and wrong labels, and its companion on the kernel perceptron's family (encyclopedia article)."""
