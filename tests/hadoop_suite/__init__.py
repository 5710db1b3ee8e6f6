"""Hadoop's own ResourceManager tests, with Elastane's scheduler in CapacityScheduler's place."""
