"""What is learned on a crowded node, beside what is learned on a free one."""
