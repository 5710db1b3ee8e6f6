"""Real series for `elastane-lab evaluate`: recurring applications on a real cluster."""
