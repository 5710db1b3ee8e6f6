"""One jar and one library on several versions of Hadoop, Java and Spark."""
