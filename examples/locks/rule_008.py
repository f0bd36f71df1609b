# rule_008
# Leave the knob open and move the handle an even number of times, at least twice; opening is one
# move and closing another.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # What the lock remembers, with its value at the start, where all parts are closed
    if not hasattr(self, "_lock_state"):
        self._lock_state = {"handle": handle, "handle_moves": 0}
    state = self._lock_state
    handle_moved = handle != state["handle"]

    if handle_moved:
        state["handle_moves"] += 1
    enough = state["handle_moves"] > 1 and state["handle_moves"] % 2 == 0

    free = knob and enough
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
    state["handle"] = handle
