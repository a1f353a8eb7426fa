"""The chapter on the images: what they are, how balanced, how alike (Hermans 2021, Figs 1 and 2)."""
