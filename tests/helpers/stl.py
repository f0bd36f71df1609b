"""Binary STL files for tests."""

from pathlib import Path

import numpy as np

TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def write_stl(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> None:
    """Write a surface without normals. `vertices` (V, 3) m, `triangles` (T, 3)."""
    records = np.zeros(len(triangles), TRIANGLE)
    records["corners"] = vertices[triangles]
    path.write_bytes(bytes(80) + len(records).to_bytes(4, "little") + records.tobytes())
