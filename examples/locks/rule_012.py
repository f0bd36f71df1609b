# rule_012
# Bring the knob and the handle through all four combinations of open and closed. Both closed, as
# they start, counts as the first.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"seen": []}
    state = self._lock_state

    if (knob, handle) not in state["seen"]:
        state["seen"].append((knob, handle))

    free = len(state["seen"]) == 4
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
