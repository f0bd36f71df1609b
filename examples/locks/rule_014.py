# rule_014
# The door can be pulled while the knob is closed and the handle is open. The closed handle cannot
# be turned while the knob is closed.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    # A closed knob keeps the closed handle from turning
    held = not knob and not handle
    self.set_lock(obj_name="safe", link_name="handle", lock=held)
    free = handle and not knob
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
