"""Import of recordings of xr_teleoperate as datasets."""
