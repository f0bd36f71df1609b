"""Configuration of MoveIt for the H1-2, written from the robot description."""
