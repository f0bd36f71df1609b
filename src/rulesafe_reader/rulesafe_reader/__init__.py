"""Policies that read the instruction of a lock that they have never seen."""
