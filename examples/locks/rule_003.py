# rule_003
# Open the handle. The door can be pulled while the handle is open; the knob plays no part.


def check_lock(self):
    handle = self.is_open(obj_name="safe", link_name="handle")

    free = handle
    self.set_lock(obj_name="safe", link_name="door", lock=not free)
