#!/usr/bin/env python3
"""Print the apt source of a Debian release's backports suite.

Mirror, key and options are copied from the machine's entry for the release, in either format of
apt sources. Standard library only, since it runs before anything is installed.

    backports_source.py bookworm [/etc/apt]
"""

import sys
from pathlib import Path


def one_line_entries(text: str) -> list:
    """Parse `deb [option=value ...] URI suite component ...` lines into deb822 fields."""
    entries = []
    for line in text.splitlines():
        words = line.split("#", 1)[0].replace("[", " [ ").replace("]", " ] ").split()
        if not words or words[0] != "deb":
            continue
        options = {}
        if len(words) > 1 and words[1] == "[":
            end = words.index("]")
            for option in words[2:end]:
                name, _, value = option.partition("=")
                name = {"arch": "Architectures", "signed-by": "Signed-By"}.get(name, name.title())
                options[name] = value.replace(",", " ") if name == "Architectures" else value
            words = ["deb", *words[end + 1 :]]
        if len(words) < 4:
            continue
        entries.append(
            {
                "Types": "deb",
                "URIs": words[1],
                "Suites": words[2],
                "Components": " ".join(words[3:]),
            }
            | options
        )
    return entries


def deb822_entries(text: str) -> list:
    """Parse deb822 stanzas; values keep their continuation lines (such as an embedded key)."""
    names = {name.lower(): name for name in ("Types", "URIs", "Suites", "Components", "Signed-By")}
    entries: list = [{}]
    last = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if not line.strip():
            entries.append({})
        elif line[0] in " \t":
            entries[-1][last] += "\n" + line
        else:
            name, _, value = line.partition(":")
            last = names.get(name.strip().lower(), name.strip().title())
            entries[-1][last] = value.strip()
    return [entry for entry in entries if entry]


def backports_source(codename: str, etc: Path) -> str:
    """Return the deb822 stanza of the suite `codename`-backports.

    Raises:
        LookupError: no file under `etc` has an entry of the release's component main.
    """
    entries = []
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]:
        if path.suffix == ".list" and path.is_file():
            entries += one_line_entries(path.read_text())
        elif path.suffix == ".sources" and path.is_file():
            entries += deb822_entries(path.read_text())
    for entry in entries:
        if (
            "deb" in entry.get("Types", "").split()
            and codename in entry.get("Suites", "").split()
            and "main" in entry.get("Components", "").split()
            and entry.get("Enabled", "yes") != "no"
        ):
            source = entry | {
                "Types": "deb",
                "Suites": f"{codename}-backports",
                "Components": "main",
            }
            lines = (f"{name}: {value}" for name, value in source.items())
            return "".join(f"{line}\n".replace(": \n", ":\n") for line in lines)
    raise LookupError(f"no apt source of {codename} main under {etc}")


if __name__ == "__main__":
    try:
        arguments = [*sys.argv[1:], "/etc/apt"][:2]
        print(backports_source(arguments[0], Path(arguments[1])), end="")
    except LookupError as error:
        sys.exit(str(error))
