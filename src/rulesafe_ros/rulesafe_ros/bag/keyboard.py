"""Keys of `rulesafe bag play`."""

ACTIONS = {
    " ": "pause",
    "n": "next",
    "\x1b[C": "next",
    "+": "faster",
    "\x1b[A": "faster",
    "-": "slower",
    "\x1b[B": "slower",
    "q": "quit",
}
"""Action of each key, by the characters that a terminal sends."""

HELP = "keys: space pause, n or → next message, + or ↑ faster, - or ↓ slower, q quit"
