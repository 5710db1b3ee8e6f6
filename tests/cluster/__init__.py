"""A YARN cluster of real processes on one machine."""
