"""Real series for `elastane-lab evaluate`: applications that run again and again on a real cluster."""
