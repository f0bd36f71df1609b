"""Policies on servers of Isaac GR00T (groot://HOST:PORT), and datasets for its training."""
