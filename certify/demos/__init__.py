"""Real data on which the certificates are shown next to the truth."""
