#!/usr/bin/env python3
"""Draws docs/images/packages.svg: the packages of src/ and what each imports (Graphviz).

An arrow that follows from others is left out (transitive reduction). Called by hand after packages
or their imports changed: .venv/bin/python scripts/package_figure.py
"""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import graphviz

SOURCE = Path(__file__).resolve().parents[1] / "src"
NAMES = {path.parent.name for path in SOURCE.glob("*/setup.py")}


def imports(package: str) -> set[str]:
    """The packages of src/ that a package imports."""
    found: set[str] = set()
    for path in (SOURCE / package / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found & NAMES - {package}


def draw() -> str:
    """The figure as SVG."""
    direct = {name: imports(name) for name in NAMES}
    below: dict[str, set[str]] = {}  # all that a package needs, directly or not
    for name in TopologicalSorter(direct).static_order():
        below[name] = direct[name].union(*(below[each] for each in direct[name]))
    graph = graphviz.Digraph(graph_attr={"rankdir": "TB", "ranksep": "0.35", "bgcolor": "white"})
    graph.attr("node", shape="box", style="rounded,filled", fillcolor="#eef2f7", fontname="sans")
    for name in sorted(NAMES):
        graph.node(name)
        indirect = set().union(*(below[each] for each in direct[name]))
        for other in sorted(direct[name] - indirect):
            graph.edge(name, other)
    return str(graph.pipe("svg", encoding="utf-8"))


if __name__ == "__main__":
    (SOURCE.parent / "docs/images/packages.svg").write_text(draw(), "utf-8")
