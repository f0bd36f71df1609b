# rule_011
# Enter the code 1-0-1-0 with the knob: closing it is a 1, opening it a 0, and the last four digits
# count. The handle plays no part.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"knob": knob, "digits": ""}
    state = self._lock_state
    knob_moved = knob != state["knob"]

    if knob_moved:
        digit = "0" if knob else "1"
        state["digits"] = f"{state['digits']}{digit}"[-4:]

    free = state["digits"] == "1010"
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["knob"] = knob
