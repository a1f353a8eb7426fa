"""The chapter on prepared images and on more of them."""
