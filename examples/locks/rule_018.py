# rule_018
# Enter the code 1-2-3. A counter stands at one; every knob move adds one to it, and every handle
# move enters its value and sets it back to one. The last three digits count.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "handle": handle, "counter": 1, "digits": []}
    state = self._lock_state
    knob_moved = knob != state["knob"]
    handle_moved = handle != state["handle"]

    if knob_moved:
        state["counter"] += 1
    if handle_moved:
        state["digits"] = [*state["digits"], state["counter"]][-3:]
        state["counter"] = 1

    free = state["digits"] == [1, 2, 3]
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
    state["handle"] = handle
