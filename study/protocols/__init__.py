"""Parts that several chapters run: the protocol on images, margins, lattices in the plane, checks of settings."""
