"""The chapter on the delta rule and output codes (course page)."""
