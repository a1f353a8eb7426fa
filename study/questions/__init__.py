"""Questions that people ask in public, and what the study answers."""
