# rule_002
# Open the knob. The door can be pulled while the knob is open; the handle plays no part.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")

    free = knob
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
