"""Measures reprovisioning's gain and cost on a real cluster."""
