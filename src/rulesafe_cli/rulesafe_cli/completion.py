"""`rulesafe completion`: completes command lines, from the table and the functions of commands."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from rulesafe_cli.arguments import CommandArgument, arguments_of
from rulesafe_cli.table import COMMANDS
from rulesafe_locks.rules import RULES
from rulesafe_sim.safes import SAFES

Shell = Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]

SCRIPTS = {
    # bash also treats = and : as word separators. $2 is the part after the last separator, and the
    # only one that bash replaces. The part before it is therefore removed from each candidate.
    "bash": r"""_rulesafe() {
    local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} word
    word=${line##*[[:space:]]}
    COMPREPLY=($("$1" completion bash --line "$line" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"${word%"$2"}"}")
    [[ ${COMPREPLY-} != *= ]] || compopt -o nospace
}
complete -o default -o bashdefault -F _rulesafe rulesafe""",
    "zsh": r"""_rulesafe() {
    local line="${(j: :)words[1,CURRENT-1]} $PREFIX"
    local -a found=(${(f)"$($words[1] completion zsh --line "$line" 2>/dev/null)"})
    (( $#found )) || { _files; return }
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
compdef _rulesafe rulesafe""",
    "fish": r"""function _rulesafe
    set -l found (rulesafe completion fish --line (commandline -cp | string collect) 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c rulesafe -f -a '(_rulesafe)'""",
}
"""Shell -> its script. If `rulesafe` returns no candidates, the shell completes file names."""


def completion(shell: Shell, line: str | None = None) -> None:
    """Print a script with which a shell completes command lines of `rulesafe`.

    In the current shell: eval "$(rulesafe completion bash)". For every new shell add this line to
    ~/.bashrc or ~/.zshrc. In fish: rulesafe completion fish | source

    Example: rulesafe completion bash

    Args:
        shell: The shell.
        line: The beginning of a command line: print the candidates for its last word.
    """
    print(SCRIPTS[shell] if line is None else "\n".join(candidates(line)))


def candidates(line: str) -> list[str]:
    """Return the candidates for the last word of a command line.

    The list is empty if a file, a number or a text is expected.
    """
    words = line.split()[1:]
    last = words.pop() if words and not line[-1].isspace() else ""
    return [word for word in _offered(words, last) if word.startswith(last)]


def _offered(words: list[str], last: str) -> list[str]:
    """Return the words that may follow `words`; the caller selects those that begin with `last`."""
    if not words:
        return [*(command.name for command in COMMANDS), "--help", "--version"]
    functions = next((c.functions() for c in COMMANDS if c.name == words[0]), {})
    name = " ".join(words[:2]) if " ".join(words[:2]) in functions else words[0]
    given = words[len(name.split()) :]
    below = [] if given else [word.split()[1] for word in functions if word.startswith(f"{name} ")]
    if name not in functions:
        return below
    arguments = arguments_of(functions[name])
    options = {option: argument for argument in arguments for option in argument.options}
    valued = [option for option, argument in options.items() if argument.metavar]
    free = [
        word
        for before, word in zip(["", *given], given, strict=False)
        if not word.startswith("-") and before not in valued
    ]
    option, _, value = last.rpartition("=")
    if option in valued:
        return [f"{option}={word}" for word in _values(options[option], value, free)]
    if given and given[-1] in valued:
        return _values(options[given[-1]], last, free)
    positional = [argument for argument in arguments if not argument.options]
    expected = positional[len(free) :] or [argument for argument in positional if argument.many]
    values = _values(expected[0], last, free) if expected else []
    if expected and not values and not last.startswith("-"):
        return []
    return [*below, *values, *(option for option in options if option not in given), "--help"]


def _values(argument: CommandArgument, prefix: str, free: list[str]) -> list[str]:
    """Return the values of an argument; in a comma-separated list, with the items before it."""
    if argument.metavar == "name:=value":
        from rulesafe_ros.launch.commands import known_arguments

        return [f"{name}:=" for name in known_arguments(Path(free[0]))]
    before = prefix[: prefix.rfind(",") + 1] if argument.name.endswith("s") else ""
    names = {"rule": RULES, "rules": RULES, "safe": SAFES, "safes": SAFES}.get(argument.name, ())
    return [before + value for value in argument.choices or names]
