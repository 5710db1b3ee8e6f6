"""What reprovisioning gains and costs on a real cluster."""
