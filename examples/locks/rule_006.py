# rule_006
# Enter the code 0-1-0 with the knob. A knob move, either way, is a 0 while the handle is open and
# a 1 while it is closed; the last three digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "digits": []}
    state = self._lock_state
    knob_moved = knob != state["knob"]

    if knob_moved:
        state["digits"].append(0 if handle else 1)
        state["digits"] = state["digits"][-3:]

    free = state["digits"] == [0, 1, 0]
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
