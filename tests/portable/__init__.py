"""The binaries of `make dist` run on an older glibc and on both architectures."""
