"""The compiled libraries, see scripts/kernels.py."""
