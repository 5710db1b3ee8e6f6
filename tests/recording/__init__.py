"""Real series for `elastane evaluate`: applications that run again and again on a real cluster."""
