# rule_007
# Move the knob and the handle at least once each, and leave one of them open and the other closed.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "moved": set()}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved:
        state["moved"].add("knob")
    if handle_moved:
        state["moved"].add("handle")

    free = len(state["moved"]) == 2 and knob != handle
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
