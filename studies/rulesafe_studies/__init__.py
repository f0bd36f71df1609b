"""The studies of docs/results; they use the product through its public interface only."""
