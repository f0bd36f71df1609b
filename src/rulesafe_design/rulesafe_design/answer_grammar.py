r"""Write a GBNF grammar of answers, for language models with grammar-constrained decoding.

A sentence of the grammar is the JSON object of `answers.SCHEMA`. Its program lies in a subset of
the syntax that `restricted.compile_lock` accepts: assignments, if, for, return, calls and
expressions, with bounded nesting. A context-free grammar cannot count indentation, so each depth of
blocks and of brackets has its own rules. GBNF is the format of llama.cpp. Example::

    answer_grammar().splitlines()[0]  # the rule `root`
"""

from collections.abc import Iterable
from functools import lru_cache
from keyword import kwlist
from string import ascii_lowercase

from rulesafe_design.allowed_syntax import UNAVAILABLE
from rulesafe_design.answers import DESCRIPTION, MOVES
from rulesafe_design.guards import BUILTINS, METHODS
from rulesafe_locks.rules import PARTS

BLOCKS = 4
"""Maximum depth of blocks, including the function's."""
BRACKETS = 3
"""Maximum depth of brackets in an expression."""
STATEMENTS = 24
"""Maximum number of statements of a block."""
MAX_EVENTS = 16
"""Maximum number of events of a plan."""

ROOT = r"""
root ::= "{\"description\": \"" description "\", \"program\": \"" program "\", " moves
moves ::= "\"plan\": [" plan "]}"
visible ::= [\x21\x23-\x5B\x5D-\x7E]
text ::= [\x20\x21\x23-\x5B\x5D-\x7E]
comment ::= "#" text{0,90}
end ::= ("\x20\x20" comment)?
nl ::= "\\n"
program ::= "def\x20check_lock(self):" end block-1 nl?
string ::= "'" [\x20\x21\x23-\x26\x28-\x5B\x5D-\x7E]{0,40} "'"
number ::= "0" | [1-9] [0-9]{0,2}
index ::= "-"? number
constant ::= "True" | "False" | "None"
word ::= [a-z] [a-z0-9_]{0,30}
rest ::= [a-z0-9_]{0,30}
attribute ::= "self._" word
"""
"""Rules without depth. Characters of text are printable ASCII without " and \\, which JSON escapes;
those of strings are also without the quotation mark of Python."""

BLOCK = r"""
block-{n} ::= (lead-{n} statement-{n}){{1,{statements}}}
lead-{n} ::= (nl | nl "{indent}" comment){{0,4}} nl "{indent}"
"""
NESTED = r"""
statement-{n} ::= simple end | if-{n} | for-{n}
if-{n} ::= "if\x20" suite-{n} elif-{n}{{0,12}} else-{n}?
elif-{n} ::= nl "{indent}" "elif\x20" suite-{n}
else-{n} ::= nl "{indent}" "else:" end block-{deeper}
for-{n} ::= "for\x20" name "\x20in\x20" suite-{n}
suite-{n} ::= expression-{most} ":" end block-{deeper}
"""
SIMPLE = r"""
simple ::= assignment | set-lock | effect | "pass" | return
assignment ::= target "\x20" operator? "=\x20" (expression-{n} | lines)
target ::= name | attribute | (name | attribute) "[" expression-0 "]"
operator ::= "+" | "-" | "*" | "//" | "%"
lines ::= "(" line expression-{n} (line ("and" | "or") "\x20" expression-{n}){{0,8}} line ")"
line ::= nl "\x20"{{0,16}}
set-lock ::= "self.set_lock(obj_name='safe',\x20link_name='" part "',\x20lock=" expression-{n} ")"
effect ::= (name | attribute) "." method "(" arguments-{m}? ")"
return ::= "return" ("\x20" expression-{n})?
"""
EXPRESSION = r"""
expression-{n} ::= either-{n} ("\x20if\x20" either-{n} "\x20else\x20" either-{n})?
either-{n} ::= both-{n} ("\x20or\x20" both-{n}){{0,6}}
both-{n} ::= not-{n} ("\x20and\x20" not-{n}){{0,6}}
not-{n} ::= "not\x20"? comparison-{n}
comparison-{n} ::= sum-{n} ("\x20" relation "\x20" sum-{n}){{0,2}} (is ("None" | "True" | "False"))?
sum-{n} ::= product-{n} ("\x20" [+-] "\x20" product-{n}){{0,4}}
product-{n} ::= sign-{n} ("\x20" ("*" | "//" | "%") "\x20" sign-{n}){{0,3}}
sign-{n} ::= "-"? atom-{n}
"""
RELATION = r"""
relation ::= "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not\x20in"
is ::= "\x20is\x20" "not\x20"?
is-open ::= "self.is_open(obj_name='safe',\x20link_name='" part "')"
has ::= "hasattr(self,\x20'_" word "')"
empty ::= "{}" | "[]" | "()"
slice ::= index? ":" index?
atom-0 ::= number | string | constant | empty | is-open | has | (name | attribute) item-0?
item-0 ::= "[" (string | index | name | slice) "]"
"""
ATOM = r"""
arguments-{m} ::= expression-{m} (",\x20" expression-{m}){{0,5}}
pair-{m} ::= expression-{m} ":\x20" expression-{m}
atom-{n} ::= atom-0 | (name | attribute | group-{n}) part-{n}{{0,2}} | call-{n} | new-{n}
group-{n} ::= "(" expression-{m} ")"
part-{n} ::= "[" (expression-{m} | slice) "]" | "." method "(" arguments-{m}? ")"
call-{n} ::= function "(" arguments-{m}? ")"
new-{n} ::= "[" arguments-{m} "]" | "(" expression-{m} "," ("\x20" arguments-{m})? ")" | dict-{n}
dict-{n} ::= "{{" pair-{m} (",\x20" pair-{m}){{0,7}} "}}"
"""


@lru_cache(maxsize=1)
def answer_grammar() -> str:
    """Return the grammar in GBNF, one rule per line; the first one is `root`."""
    most = BRACKETS
    texts = [ROOT, SIMPLE.format(n=most, m=most - 1), RELATION]
    for n in range(1, BLOCKS + 1):
        text = BLOCK + (NESTED if n < BLOCKS else "statement-{n} ::= simple end\n")
        indent = r"\x20" * 4 * n
        texts.append(
            text.format(n=n, deeper=n + 1, indent=indent, most=most, statements=STATEMENTS)
        )
    for n in range(most + 1):
        texts.append(EXPRESSION.format(n=n) + (ATOM.format(n=n, m=n - 1) if n else ""))
    door = MOVES[-1]
    events = _choice(f'\\"{move}\\"' for move in MOVES if move != door)
    rules = {
        "plan": f'(event ",\\x20"){{0,{MAX_EVENTS - 1}}} "\\"{door}\\""',
        "event": events,
        "part": _choice(PARTS),
        "method": _choice(sorted(set().union(*METHODS.values()))),
        # Functions of attributes are allowed on self only: see the rule `has`.
        "function": _choice(name for name in BUILTINS if name.islower() and "attr" not in name),
        **_description(*DESCRIPTION),
        **_names(),
    }
    texts += [f"{name} ::= {text}" for name, text in rules.items()]
    lines = "\n".join(texts).splitlines()
    return "\n".join(line for line in lines if line) + "\n"


def _choice(words: Iterable[str]) -> str:
    return " | ".join(f'"{word}"' for word in words)


def _description(least: int, most: int) -> dict[str, str]:
    """Return the rules of a description. Its first `least` characters have no double spaces, which
    `parse_answer` would merge, so that it has enough characters in any case."""
    rules = {
        "description": f"visible start-{least - 1} details?",
        "details": f"text{{1,{most - least - 1}}}",
    }
    for missing in range(least - 1, 2, -1):
        rules[f"start-{missing}"] = (
            f'visible start-{missing - 1} | "\\x20" visible start-{missing - 2}'
        )
    return {**rules, "start-2": r'visible start-1 | "\x20" visible', "start-1": r'"\x20"? visible'}


def _names() -> dict[str, str]:
    """Return the rules of variable names: lower-case words that are neither keywords nor functions
    of Python that a program cannot use. Each prefix of such a word has a rule."""
    refused = {word for word in (*kwlist, *UNAVAILABLE, "self") if _is_lower(word)}
    prefixes = sorted({word[:n] for word in refused for n in range(len(word) + 1)})
    rules = {}
    for prefix in prefixes:
        following = sorted(p[-1] for p in prefixes if p and p[:-1] == prefix)
        longer = [f'"{letter}" {_rule(prefix + letter)}' for letter in following]
        letters = ascii_lowercase + ("0123456789_" if prefix else "")
        other = "".join(letter for letter in letters if letter not in following)
        longer.append(f"[{other}] rest")
        ends = not prefix or prefix in refused
        rules[_rule(prefix)] = " | ".join(longer) if ends else f"({' | '.join(longer)})?"
    return rules


def _rule(prefix: str) -> str:
    """Return the name of the rule for the rest of a name after a prefix."""
    return f"name-{prefix.replace('_', '-')}" if prefix else "name"


def _is_lower(word: str) -> bool:
    return word.isidentifier() and word.islower() and word[0] != "_"
