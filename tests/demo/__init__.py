"""`make demo`: the same Spark applications under CapacityScheduler and under Elastane."""
