"""Draw the automaton of a lock: its states, the moves between them, and the shortest plan.

States with the same visible phases have the same colour and shape; a robot needs memory to
distinguish them. Graphviz `dot` computes the layout: a column for each number of moves from the
start, and the plan in a straight line.
"""

from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from graphviz import Digraph, ExecutableNotFound

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import write_atomically
from rulesafe_locks.automata import MOVED, Automaton, automaton_of, depths, possible, smallest
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.proofs import dead_ends

FORMATS = ("svg", "png", "pdf")

MAX_STATES = 300
"""Maximum number of states of a drawn automaton, because larger drawings are unreadable."""

INK, FAINT, RED, DEAD = "#22262b", "#8a9099", "#b0003a", "#c9ccd1"
FONT = "DejaVu Sans,Helvetica,Arial,sans-serif"


class Look(NamedTuple):
    """The appearance of the states with certain parts open."""

    name: str
    letters: str
    shape: str
    colour: str


# Tints of the palette of Okabe and Ito, which colour-blind readers can distinguish.
LOOKS = {
    (False, False): Look("both closed", "&#8211;", "circle", "#ffffff"),
    (True, False): Look("knob open", "K", "square", "#a6d8f5"),
    (False, True): Look("handle open", "H", "hexagon", "#f7d183"),
    (True, True): Look("both open", "KH", "octagon", "#e6b3d0"),
}
LINES = {"knob": "solid", "handle": "dashed"}
PLAN = {"color": RED, "fontcolor": RED, "penwidth": "2.6", "weight": "20"}

GRAPH = {
    "rankdir": "LR",
    "labelloc": "b",
    "fontname": FONT,
    "fontcolor": INK,
    "pad": "0.15",
    "nodesep": "0.28",
    "ranksep": "0.42",
    "outputorder": "edgesfirst",
}
NODES = {
    "fontname": FONT,
    "fontsize": "12",
    "fontcolor": INK,
    "style": "filled",
    "fixedsize": "true",
    "width": "0.55",
    "height": "0.55",
}
EDGES = {"fontname": FONT, "fontsize": "11", "color": FAINT, "arrowsize": "0.6"}
TEXT = {"shape": "plaintext", "style": "", "group": "plan"}

Steps = dict[tuple[int, str], int]
"""(state, moved part) -> number of the plan step that makes this move."""


def draw(rule: Rule, path: Path) -> None:
    """Draw the smallest automaton of a rule to an SVG, PNG or PDF file, by the suffix of `path`.

    Raises:
        RuleSafeError: The suffix is invalid, Graphviz is missing, the lock cannot be opened, or the
            automaton has more than MAX_STATES states.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise unknown_name("suffix of a drawing", path.suffix, (f".{name}" for name in FORMATS))
    write_atomically(path, render(automaton_graph(rule), kind))


def render(graph: Digraph, kind: str) -> bytes:
    """Return the drawing as the content of a file of a format (`kind`, one of FORMATS)."""
    try:
        content: bytes = graph.pipe(format=kind)
        return content
    except ExecutableNotFound:
        raise RuleSafeError(
            "drawing needs Graphviz, whose `dot` is not on the PATH; on Debian and Ubuntu: "
            "apt install graphviz"
        ) from None


def automaton_graph(rule: Rule) -> Digraph:
    """Return the drawing of a rule, which is deterministic; raises the RuleSafeErrors of `draw`."""
    automaton = smallest(possible(automaton_of(rule)))
    if len(automaton.states) > MAX_STATES:
        raise RuleSafeError(
            f"{rule.id} has {len(automaton.states)} states; at most {MAX_STATES} are drawn"
        )
    moves = [event[:-1] for event in shortest_plan(rule)[:-1]]
    route = [automaton.run(moves[:done]) for done in range(len(moves) + 1)]
    caption = _caption(rule, automaton, len(moves) + 1)
    graph = Digraph(
        rule.id, graph_attr={**GRAPH, "label": caption}, node_attr=NODES, edge_attr=EDGES
    )
    _add_states(graph, automaton, set(route))
    _add_columns(graph, automaton)
    steps = {move: number for number, move in enumerate(zip(route, moves, strict=False), 1)}
    _add_moves(graph, automaton, steps)
    graph.node("start", "start", **TEXT)
    graph.edge("start", "0", color=INK)
    graph.node("door", "door\nopen", **TEXT)
    graph.edge(str(route[-1]), "door", label=f"{len(route)}: door+", **PLAN)
    return graph


def _add_states(graph: Digraph, automaton: Automaton, on_plan: set[int]) -> None:
    ends = dead_ends(automaton)
    for number, state in enumerate(automaton.states):
        look = LOOKS[state.phases[:2]]
        locked = "".join(
            f'<br/><font point-size="8">{part[0].upper()} locked</font>'
            for part in MOVED
            if part in state.locked_parts
        )
        graph.node(
            str(number),
            f"<<b>{look.letters}</b>{locked}>",
            shape=look.shape,
            fillcolor=DEAD if number in ends else look.colour,
            color=FAINT if number in ends else INK,
            penwidth="2.2" if number in on_plan else "1",
            group="plan" if number in on_plan else "",
            peripheries="2" if state.door_unlocked else "1",
            tooltip=f"state {number}: {look.name}",
        )


def _add_columns(graph: Digraph, automaton: Automaton) -> None:
    depth = depths(automaton)
    for column in range(max(depth) + 1):
        with graph.subgraph(graph_attr={"rank": "same"}) as same:
            for number, far in enumerate(depth):
                if far == column:
                    same.node(str(number))


def _add_moves(graph: Digraph, automaton: Automaton, steps: Steps) -> None:
    """Add the moves as edges that point away from the start.

    The arrow is at the end to which the move leads. `dot` routes edges between the columns only in
    this direction. No move stays within a column, because each changes the phase of one part.
    """
    depth = depths(automaton)
    for number, state in enumerate(automaton.states):
        for part, after in zip(MOVED, state.next, strict=True):
            if after is None:
                continue
            back = automaton.states[after].next[MOVED.index(part)] == number
            planned, returning = (number, part) in steps, back and (after, part) in steps
            if back and not planned and not returning and after < number:
                continue  # drawn from the other state, with an arrow at each end
            style = {"style": LINES[part]}
            ends = [str(number), str(after)]
            if back and not planned and not returning:
                style["dir"] = "both"
            elif depth[after] < depth[number]:
                ends.reverse()
                style["dir"] = "back"
            if planned:
                event = part[0].upper() + ("-" if getattr(state.phases, part) else "+")
                style |= {**PLAN, "label": f"{steps[number, part]}: {event}"}
            graph.edge(*ends, **style)


def _caption(rule: Rule, automaton: Automaton, steps: int) -> str:
    """Return the title, the instruction and the legend as a Graphviz HTML table.

    Spaces after a change of font are non-breaking, because browsers drop leading spaces of a text.
    """
    description = "<br/>".join(escape(line) for line in wrap(rule.description, 90))
    cells = "".join(
        f'<td bgcolor="{look.colour}" border="1"><b>{look.letters}</b>&#160;{look.name}</td>'
        for look in LOOKS.values()
    )
    legend = ["full line: knob move", "dashed: handle move", "double border: door free"]
    if dead_ends(automaton):
        legend.append("grey: dead end")
    legend.append("column: fewest moves from the start")
    return (
        '<<table border="0" cellspacing="4">'
        f"<tr><td><b>{escape(rule.id)}</b>&#160; {len(automaton.states)} states, "
        f"{steps} steps</td></tr>"
        f'<tr><td><font point-size="11">{description}</font></td></tr>'
        f'<tr><td><table border="0" cellspacing="4"><tr>{cells}</tr></table></td></tr>'
        f'<tr><td><font point-size="10">{" &#8226; ".join(legend)}</font></td></tr></table>>'
    )
