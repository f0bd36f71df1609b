"""Benchmarks of speed, latency and memory: `make bench`."""
