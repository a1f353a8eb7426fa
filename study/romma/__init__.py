"""The relaxed online maximum margin algorithm on MNIST: the table of Li & Long 1999."""
