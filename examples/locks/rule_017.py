# rule_017
# Move the knob and the handle so that the number of knob moves times the number of handle moves is
# four; every opening or closing is one move.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "knob_moves": 0, "handle_moves": 0}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    state["knob_moves"] += int(knob_moved)
    state["handle_moves"] += int(handle_moved)

    free = state["knob_moves"] * state["handle_moves"] == 4
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
