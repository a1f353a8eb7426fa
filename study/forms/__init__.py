"""The chapter on the three multiclass forms on MNIST."""
