"""A virtual machine with cgroup version 2 that sees this machine's files and changes none."""
