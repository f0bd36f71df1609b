# rule_001
# Open the knob and the handle, in any order. The door can be pulled while both are open.


def check_lock(self):
    knob = self.is_open(obj_name="safe", link_name="knob")
    handle = self.is_open(obj_name="safe", link_name="handle")

    free = knob and handle
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
