"""Hooks of mkdocs.yml: add pages from outside of docs/, and the targets of links to other files.

README, CONTRIBUTING, CHANGELOG and the datasets' README become pages; the references of commands
and of the configuration are written from the code. Other files that a page links
to (examples, licences) are copied to repository/, so that all links of the site work and none
depends on where the repository is hosted.
"""

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "datasets/README.md": "datasets.md",
    "studies/README.md": "studies.md",
    "studies/peers/README.md": "peers.md",
}
"""Path in the repository -> page of the site."""

SOURCES = {page: path for path, page in PAGES.items()}
LINK = re.compile(r"(?P<before>\]\(|\b(?:src|href|srcset)=\")(?P<target>[^)\"#\s]+)")
INLINE = re.compile(r"(?<!</span>)<code>([^<]*)</code>")
OPTION = re.compile(r"(?<!\S)--?[a-z][\w-]*")
FENCE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.M | re.S)


def on_files(files: Files, *, config: Any) -> Files:
    """Add PAGES, the references and the files to which pages link.

    Raises:
        PluginError: a page links to a file that does not exist.
    """
    sys.path.insert(0, str(ROOT / "scripts"))
    from make_reference import WRITE

    for name, write in WRITE.items():
        files.append(File.generated(config, f"reference/{name}.md", content=write()))
    for path, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    for file in [file for file in files if file.is_documentation_page()]:
        for target in _targets(file.content_string):
            path = _in_repository(file.src_uri, target)
            uri = _in_site(path)
            if uri.startswith("repository/") and files.get_file_from_path(uri) is None:
                if not (ROOT / path).is_file():
                    raise PluginError(f"{file.src_uri} links to {path}, which does not exist")
                files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace the targets of relative links by their paths in the site."""
    here = posixpath.dirname(page.file.src_uri)

    def relinked(match: "re.Match[str]") -> str:
        target = match["target"]
        if not _is_relative(target):
            return match[0]
        uri = _in_site(_in_repository(page.file.src_uri, target))
        return match["before"] + posixpath.relpath(uri, here or ".")

    parts = FENCE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(relinked, part) for i, part in enumerate(parts))


def on_page_content(html: str, **_: Any) -> str:
    """Mark command-line options as spans, in which browsers do not break lines after hyphens."""
    spanned = r'<span class="option">\g<0></span>'
    return INLINE.sub(lambda code: f"<code>{OPTION.sub(spanned, code[1])}</code>", html)


def _targets(markdown: str) -> Iterator[str]:
    for part in FENCE.split(markdown)[::2]:
        yield from (m["target"] for m in LINK.finditer(part) if _is_relative(m["target"]))


def _is_relative(target: str) -> bool:
    return not re.match(r"[a-z]+:|/|#", target)


def _in_repository(page: str, target: str) -> str:
    """Return the target of a page's link as a path from the root of the repository."""
    source = SOURCES.get(page, f"docs/{page}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


def _in_site(path: str) -> str:
    """Return the path in the site of a file of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" + ("" if Path(path).suffix else ".txt")
