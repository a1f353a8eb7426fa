"""How low the error on MNIST can go: recipes that held-out images choose, step by step, each with its price."""
