"""Videos and contact sheets of episodes."""
