"""MkDocs hooks: what GitHub shows of the Markdown files, the site shows too.

Some files outside of docs/ are pages of the site, and links to them are rewritten. Pictures for light and
dark become a pair of images that follows the site's own switch, which `prefers-color-scheme` does not.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "reference/measurements.md",
    "adapter/README.md": "reference/embedded-model.md",
}
SOURCES = {page: source for source, page in OUTSIDE.items()}

FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(
    r"<picture>\s*"
    r'<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\s*'
    r'<img alt="(?P<alt>[^"]*)" src="(?P<light>[^"]+)"(?: width="(?P<width>\d+)")?>\s*'
    r"</picture>"
)


def on_files(files: Files, config: Any, **_: Any) -> Files:
    for source, page in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Rewrite prose, and leave code blocks, which are every second part, as they are."""
    if page.is_homepage:  # it has no pages beside it, so the column for them would be empty
        page.meta["hide"] = ["navigation"]
    parts = FENCED.split(markdown)
    parts[::2] = [with_links(PICTURE.sub(pair, part), page.file.src_uri) for part in parts[::2]]
    return "".join(parts)


def pair(found: re.Match[str]) -> str:
    width = f"{{ width={found['width']} }}" if found["width"] else ""
    return "\n".join(
        f"![{found['alt']}]({found[scheme]}#only-{scheme}){width}" for scheme in ("light", "dark")
    )


def with_links(text: str, page: str) -> str:
    source = SOURCES.get(page, f"docs/{page}")

    def rewritten(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[1]))
        inside = OUTSIDE.get(target, target.removeprefix("docs/"))
        if inside == target:  # neither in docs/ nor one of the pages from outside: `--strict` refuses it
            return found[0]
        return f"]({posixpath.relpath(inside, posixpath.dirname(page) or '.')}{found[2] or ''})"

    return LINK.sub(rewritten, text)
