"""The possible cells of difficulty."""

from collections import Counter
from itertools import product

from rulesafe_design.difficulty import CELLS, STEPS, Cell, cell_of


def walks(steps):
    """Yield, for each sequence of knob and handle moves, the number of visits of the most frequent
    phases."""
    for moves in product((1, 2), repeat=steps - 1):
        phases, met = 0, Counter([0])
        for move in moves:
            phases ^= move
            met[phases] += 1
        yield max(met.values())


def test_cells_are_those_of_all_move_sequences():
    reached = {
        cell_of({"steps": steps, "memory": memory})
        for first, last in STEPS
        for steps in range(first, last + 1)
        for memory in set(walks(steps))
    }
    assert set(CELLS) == reached


def test_bands():
    assert cell_of({"steps": 6, "memory": 3}) == Cell(5, 3)
    assert cell_of({"steps": 12, "memory": 6}) == Cell(11, 5)
    assert cell_of({"steps": 13, "memory": 5}) is None
    assert Cell(11, 5).name == "11-12 steps, memory 5+"
    assert Cell(2, 1).name == "2-4 steps, memory 1"
