"""Property tests try the same examples in every run; HYPOTHESIS_PROFILE=search tries others."""

import os

from hypothesis import settings

import study  # noqa: F401 (asks for the same bytes on every CPU before NumPy is loaded)

settings.register_profile("fixed", derandomize=True)
settings.register_profile("search", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
