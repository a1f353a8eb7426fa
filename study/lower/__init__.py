"""Other learners on the same images: errors with paired tests, seconds, memory, numbers stored."""
