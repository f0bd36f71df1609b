# rule_015
# Open the knob and close the handle equally often, at least twice each. As soon as either has been
# done three times, both counts start again from zero.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "knob_opened": 0, "handle_closed": 0}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved and knob:
        state["knob_opened"] += 1
    if handle_moved and not handle:
        state["handle_closed"] += 1
    if state["knob_opened"] == 3 or state["handle_closed"] == 3:
        state["knob_opened"] = 0
        state["handle_closed"] = 0

    free = state["knob_opened"] == state["handle_closed"] >= 2
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
