"""What holds for all tests."""

import signal

# A shell's background job ignores Ctrl-C, and so would each process that a test starts from it and
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
