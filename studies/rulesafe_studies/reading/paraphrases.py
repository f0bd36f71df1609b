"""Paraphrases of the grammar's sentences, so that the parser reads more than its wordings."""

import random
import re
from collections import Counter
from collections.abc import Sequence

from rulesafe_design.grammar_events import NUMBERS
from rulesafe_reader.parser import words_of

P, WAY, STATE = "(knob|handle)", "(opening|closing)", "(open|closed)"

RULES: Sequence[tuple[str, Sequence[str]]] = (
    (
        f"[Mm]oving the {P} either way",
        (
            "each move of the {0}",
            "every move of the {0}, opening or closing,",
            "turning the {0}, either way,",
            "a move of the {0}",
        ),
    ),
    (
        f"[Oo]pening the {P}",
        ("each opening of the {0}", "an opening of the {0}", "every {0} opening"),
    ),
    (
        f"[Cc]losing the {P}",
        ("each closing of the {0}", "a closing of the {0}", "every {0} closing"),
    ),
    (
        f"while the {P} is {STATE}",
        (
            "with the {0} {1}",
            "when the {0} is {1}",
            "as long as the {0} is {1}",
            "at a moment when the {0} is {1}",
            "if the {0} is {1} then",
        ),
    ),
    (
        f"and the {P} is {STATE}",
        ("with the {0} {1}", "the {0} being {1}", "and the {0} stands {1}"),
    ),
    (
        "[Tt]he door (?:can be pulled|is free only) while",
        (
            "the door is free while",
            "the door is free when",
            "the door opens only if",
            "you can pull the door as long as",
            "the door is unlocked while",
            "the door comes free when",
        ),
    ),
    (
        "[Tt]he door stays locked unless",
        ("the door is free only if", "the door is locked unless", "the door is free while"),
    ),
    (
        f"[Aa] stop keeps the {P} from {WAY} unless",
        (
            "the {0} is kept from {1} unless",
            "{1} the {0} is possible only if",
            "the {0} is held against {1} unless",
            "the {0} is jammed against {1} unless",
        ),
    ),
    (
        "the (knob|handle) and the (knob|handle) are both",
        ("both parts are", "{0} and {1} are both"),
    ),
    ("enters? a", ("writes a", "gives a", "types a", "is a", "stands for a")),
    ("enter nothing", ("write nothing", "type nothing", "do nothing", "count for nothing")),
    (
        "wipes out all digits entered so far",
        ("clears the code", "erases all digits", "deletes what has been written"),
    ),
    (
        r"[Tt]he last (\w+) (digits|numbers) count",
        ("the last {0} {1} are kept", "only the last {0} {1} are remembered", "{0} {1} are kept"),
    ),
    ("[Ee]nter the code", ("the code is", "write the code", "type", "give the code")),
    ("the last (\\w+) digits are", ("the code reads", "the digits read", "the last {0} read")),
    ("adds one to it", ("raises it by one", "makes it one higher", "1 is added", "counts up")),
    ("takes one away", ("lowers it by one", "makes it one lower", "1 is taken away")),
    (
        "(?:sets|puts) this count back to zero",
        ("sets the count to 0", "starts the count over", "makes the count zero again"),
    ),
    ("[Tt]he tally", ("the level", "the number", "the count", "the lead")),
    ("a tally", ("a level", "a number", "a counter")),
    (
        "never goes below zero or above (\\w+)",
        ("stays between 0 and {0}", "runs from 0 to {0}", "never leaves the range 0 to {0}"),
    ),
    ("exactly (twice|once|\\w+ times)", ("just {0}", "{0}, no more and no less", "{0}")),
    ("at least (twice|once|\\w+ times)", ("{0} or more", "no less than {0}", "{0} or more often")),
    (
        "undoes the sequence, complete or not, and it must be made from the first move again",
        ("takes this back", "undoes this", "sets everything back", "means starting over"),
    ),
    ("Make these moves in this order|Do the following in this order", ("in this order", "first")),
    (
        "Once complete, the sequence stays complete",
        ("this stays so for good", "from then on it is complete", "this is never lost"),
    ),
    (
        "the sequence is complete",
        ("this has happened", "all this has been done", "the moves have been made"),
    ),
    ("is not counted", ("does not count", "changes nothing", "counts for nothing")),
    (
        "[Oo]ther moves (?:in between )?change nothing",
        ("nothing else matters", "other moves do not count", "any other move changes nothing"),
    ),
)

_RULES = [(re.compile(pattern), options) for pattern, options in RULES]
_DIGITS = {word: str(number) for number, word in enumerate(NUMBERS[:10]) if number > 1}


def paraphrase(text: str, rng: random.Random, share: float = 0.5) -> str:
    """Return the text with a share of its phrases in other words."""
    for pattern, options in _RULES:

        def other(match: re.Match[str], options: Sequence[str] = options) -> str:
            if rng.random() > share:
                return match.group(0)
            return rng.choice(options).format(*match.groups())

        text = pattern.sub(other, text)
    if rng.random() < share:
        text = re.sub(r"\w+", lambda match: _DIGITS.get(match.group(0), match.group(0)), text)
    return text


def vocabulary(texts: Sequence[str]) -> list[str]:
    """Return the words of the texts and of all paraphrases, the most frequent first."""
    counts = Counter(word for text in texts for word in words_of(text))
    for _, options in RULES:
        counts.update(word for option in options for word in words_of(option.replace("{", " ")))
    return [word for word, _ in counts.most_common()]
