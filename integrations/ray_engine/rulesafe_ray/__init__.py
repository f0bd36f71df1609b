"""The engine `ray`, which distributes jobs with Ray."""
