# rule_013
# Move the knob three times, or six, or any further multiple of three, and have the handle open;
# every opening or closing is one move.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "knob_moves": 0}
    state = self._lock_state
    knob_moved = knob != state["knob"]

    if knob_moved:
        state["knob_moves"] += 1
    counted = state["knob_moves"] > 0 and state["knob_moves"] % 3 == 0

    free = handle and counted
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
