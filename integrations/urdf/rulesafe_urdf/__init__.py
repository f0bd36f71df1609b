"""Import of safes from URDF files, their check by the expert, and their export."""
