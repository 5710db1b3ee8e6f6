"""The scale model: a real cluster on one machine, whose executors replay recorded series."""
