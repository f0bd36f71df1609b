# rule_005
# Enter the code 0-0-1. Every knob move, either way, is a 0 and every handle move a 1; the last
# three digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "digits": ""}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved:
        state["digits"] += "0"
    if handle_moved:
        state["digits"] += "1"
    state["digits"] = state["digits"][-3:]

    free = state["digits"] == "001"
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
