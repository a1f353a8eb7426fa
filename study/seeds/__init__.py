"""The chapter on kernel least squares and the seeds data (Akar & Ye 2017)."""
