# rule_010
# Enter the code 0-1-1-0 with the handle. A handle move, either way, is a 0 while the knob is open
# and a 1 while it is closed; the last four digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"handle": handle, "digits": ""}
    state = self._lock_state
    handle_moved = handle != state["handle"]

    if handle_moved:
        state["digits"] = (state["digits"] + ("0" if knob else "1"))[-4:]

    free = state["digits"] == "0110"
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["handle"] = handle
