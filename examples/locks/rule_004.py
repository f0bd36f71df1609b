# rule_004
# The door can be pulled while both the knob and the handle are open. The closed knob cannot be
# turned while the handle is closed.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # A closed handle keeps the closed knob from turning
    held = not knob and not handle
    self.set_lock(obj_name="safe", link_name="knob", lock=held)
    free = knob and handle
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
