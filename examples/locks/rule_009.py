# rule_009
# Enter the code 1-0-0-1. Every knob move, either way, is a 1 and every handle move a 0; the last
# four digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "digits": []}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved:
        state["digits"].append(1)
    if handle_moved:
        state["digits"].append(0)
    while len(state["digits"]) > 4:
        state["digits"].pop(0)

    free = state["digits"] == [1, 0, 0, 1]
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
