#!/usr/bin/env python3
"""Draw docs/images/packages.svg: the packages of src/ and what each imports (Graphviz).

Run it after a change of packages or their imports: .venv/bin/python scripts/package_figure.py
"""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import graphviz

SOURCE = Path(__file__).resolve().parents[1] / "src"
FIGURE = SOURCE.parent / "docs/images/packages.svg"
NAMES = {path.parent.name for path in SOURCE.glob("*/setup.py")}


def imports(package: str) -> set[str]:
    """Return the packages of src/ that a package imports."""
    found: set[str] = set()
    for path in (SOURCE / package / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found & NAMES - {package}


def arrows() -> set[tuple[str, str]]:
    """Return the imports, without those that other imports imply (transitive reduction)."""
    direct = {name: imports(name) for name in NAMES}
    reachable: dict[str, set[str]] = {}  # imported directly or indirectly
    for name in TopologicalSorter(direct).static_order():
        reachable[name] = direct[name].union(*(reachable[each] for each in direct[name]))
    return {
        (name, other)
        for name, others in direct.items()
        for other in others - set().union(*(reachable[each] for each in others))
    }


def draw() -> str:
    """Return the figure as SVG."""
    graph = graphviz.Digraph(graph_attr={"rankdir": "TB", "ranksep": "0.35", "bgcolor": "white"})
    graph.attr("node", shape="box", style="rounded,filled", fillcolor="#eef2f7", fontname="sans")
    for name in sorted(NAMES):
        graph.node(name)
    graph.edges(sorted(arrows()))
    return str(graph.pipe("svg", encoding="utf-8"))


if __name__ == "__main__":
    FIGURE.write_text(draw(), "utf-8")
