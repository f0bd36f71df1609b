# rule_019
# Enter the code 0-1 with the knob while the handle is open: closing the knob is a 0, opening it a
# 1, and the last two digits count. Then close the handle to free the door. With the handle closed,
# knob moves enter nothing.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "digits": ""}
    state = self._lock_state
    knob_moved = knob != state["knob"]

    if handle and knob_moved:
        state["digits"] = (state["digits"] + ("1" if knob else "0"))[-2:]

    free = state["digits"] == "01" and not handle
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
