"""Explore a lock program in the sandbox process over every sequence of moves.

`exploring` is the parent's side. This module imports only light modules.
"""

from collections.abc import Callable
from typing import Any

from rulesafe_design.guards import Provided, namespace, raise_first_attempt
from rulesafe_design.restricted import Refusal, compile_lock
from rulesafe_design.states import Key, key_of, values_of

LINKS = ("knob", "handle", "door")
MOVED = LINKS[:2]
CALLS = 8
"""Maximum number of calls of check_lock after a move until the state no longer changes."""

Phases = tuple[bool, bool]  # open: knob, handle; the door is always reported as closed
Locked = tuple[bool, bool, bool]  # locked: knob, handle, door
Node = tuple[Phases, Locked, Key]


class ProvidedSafe(Provided):
    """The object `self` of a lock program."""

    __slots__ = ("locked", "phases", "values")

    def __init__(self, phases: Phases, locked: Locked, values: dict[str, Any]):
        self.phases = (*phases, False)
        self.locked = list(locked)
        self.values = values

    def __repr__(self) -> str:
        return "self"

    def read(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name == "is_open":
            return self.is_open
        if name == "set_lock":
            return self.set_lock
        raise AttributeError(
            f"self has no attribute {name}; valid: is_open, set_lock and what the program sets"
        )

    def write(self, name: str, value: Any) -> None:
        if name in ("is_open", "set_lock"):
            raise AttributeError(f"self.{name} is a method and cannot be set")
        self.values[name] = value

    def remove(self, name: str) -> None:
        if name not in self.values:
            raise AttributeError(f"cannot delete self.{name}: there is no such attribute")
        del self.values[name]

    def is_open(self, obj_name: str = "safe", link_name: str = "") -> bool:
        return self.phases[_link(obj_name, link_name)]

    def set_lock(
        self, obj_name: str = "safe", link_name: str = "", lock: bool | None = None
    ) -> None:
        number = _link(obj_name, link_name)
        if type(lock) is not bool:
            raise TypeError(f"set_lock needs lock=True or lock=False, not {lock!r:.60}")
        self.locked[number] = lock


def _link(obj_name: Any, link_name: Any) -> int:
    if obj_name != "safe":
        raise ValueError(f"unknown obj_name {obj_name!r:.60}; valid: 'safe'")
    if link_name not in LINKS:
        raise ValueError(f"unknown link_name {link_name!r:.60}; valid: 'knob', 'handle', 'door'")
    return LINKS.index(link_name)


class Explorer:
    """Explore a lock program.

    Args:
        source: The program.
        run: Calls a function within the time limit of a call and returns its result.
        states: Maximum number of states.
        events: Maximum length of the move sequences.
    """

    def __init__(
        self, source: str, run: Callable[[Callable[[], Any]], Any], states: int, events: int
    ):
        code = compile_lock(source)
        self._names = namespace({})
        self._run = run
        self._states, self._events = states, events
        self._came_from: list[tuple[int, str] | None] = [None]
        self._current: tuple[int, str] | None = None
        run(lambda: exec(code, self._names))

    def explore(self) -> dict[str, Any]:
        """Return the data of `exploring.StateGraph`: breadth first, in complete layers."""
        start = self._settled((False, False), (False, False, True), ())
        nodes, numbers, depth = [start], {start: 0}, [0]
        following: list[tuple[int, int] | None] = []
        while len(following) < len(nodes):
            layer = depth[len(following)]
            last = len(nodes)
            if layer >= self._events:
                break
            for number in range(len(following), last):
                after = [self._after(nodes, numbers, number, part) for part in (0, 1)]
                depth += [layer + 1] * (len(nodes) - len(depth))
                following.append((after[0], after[1]))
                if len(nodes) > self._states:
                    break
            if len(nodes) > self._states:  # drop the incomplete layer
                first = depth.index(layer)
                del nodes[last:], depth[last:], following[first:]
                break
        complete = len(following) == len(nodes)
        return {
            "rows": [
                [int(x) for x in (not locked[2], locked[0], locked[1], *phases)]
                for phases, locked, _ in nodes
            ],
            "next": [*following, *[None] * (len(nodes) - len(following))],
            "depth": depth,
            "complete": complete,
            "events": depth[-1] + 1 if complete else depth[len(following)],
        }

    def _after(self, nodes: list[Node], numbers: dict[Node, int], number: int, part: int) -> int:
        """Return the number of the state after a move, and add the state if it is new."""
        (knob, handle), locked, key = nodes[number]
        phases = (not knob, handle) if part == 0 else (knob, not handle)
        self._current = (number, MOVED[part] + ("+" if phases[part] else "-"))
        node = self._settled(phases, locked, key, numbers)
        if node not in numbers:
            numbers[node] = len(nodes)
            nodes.append(node)
            self._came_from.append(self._current)
        return numbers[node]

    def _settled(
        self, phases: Phases, locked: Locked, key: Key, known: dict[Node, int] | None = None
    ) -> Node:
        """Call check_lock until the state no longer changes, and return the state."""
        node = (phases, locked, key)
        for _ in range(CALLS):
            before, node = node, self._call(*node)
            if node == before or (known and node in known):
                return node
        raise Refusal(
            "clock",
            f"self or the locks still change after {CALLS} calls without a move ({self.trail()}); "
            "a lock must depend on the moves, not on how often check_lock is called",
        )

    def _call(self, phases: Phases, locked: Locked, key: Key) -> Node:
        def call() -> Node:
            safe = ProvidedSafe(phases, locked, values_of(key))
            self._names["check_lock"](safe)
            raise_first_attempt()
            new = (safe.locked[0], safe.locked[1], safe.locked[2])
            return phases, new, key_of(safe.values)

        return self._run(call)

    def trail(self) -> str:
        """Return a text with the moves before the current call, such as "after knob+, handle+"."""
        moves: list[str] = []
        at = self._current
        while at is not None:
            moves.append(at[1])
            at = self._came_from[at[0]]
        return f"after {', '.join(reversed(moves))}" if moves else "at the start"
