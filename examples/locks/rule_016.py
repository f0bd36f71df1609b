# rule_016
# Enter the code 1-1-1-0: closing the knob is a 1, opening the handle a 0, and other moves enter
# nothing. The last four digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "digits": ""}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved and not knob:
        state["digits"] += "1"
    if handle_moved and handle:
        state["digits"] += "0"
    state["digits"] = state["digits"][-4:]

    free = state["digits"] == "1110"
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
