"""What several chapters run: the protocol on images, margins, lattices in the plane, and checks of settings."""
