"""Lines of Markdown: 100 characters at most, so that they can be read and compared anywhere."""

import re
from collections.abc import Iterator

import pytest

from tests.documents.pages import ROOT

WIDEST = 100
# Written by programs, or not wrapped yet.
LEFT_OUT = {"benchmarks/RESULTS.md", "training/results/table.md"}
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in (".", "adapter", "docs", "field-study", "src", "tests", "training")
    for path in (
        (ROOT / folder).glob("*.md") if folder in (".", "field-study") else (ROOT / folder).rglob("*.md")
    )
)
SKIPPED = re.compile(
    r"^ *```.*?^ *```$|<!-- generated: [\w ]+ -->.*?<!-- /generated -->", re.MULTILINE | re.DOTALL
)
MAY_BE_LONG = re.compile(
    r"\|"  # a row of a table
    r"|\s*(?:[-*] |\d+\. )?(?:\[[^\]]*\]\([^)]*\)|<?https?://\S+)[.,;:]?$"  # a link and nothing else
    r"|\s*<(?:img|source) "
)


def long_lines(text: str) -> Iterator[tuple[int, str]]:
    kept = SKIPPED.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(kept.splitlines(), 1):
        if len(line) > WIDEST and not MAY_BE_LONG.match(line):
            yield number, line


@pytest.mark.parametrize("file", [file for file in FILES if file not in LEFT_OUT])
def test_lines_are_short(file: str) -> None:
    assert list(long_lines((ROOT / file).read_text(encoding="utf-8"))) == []


def test_files_of_all_kinds_are_looked_at() -> None:
    wanted = {"CHANGELOG.md", "docs/index.md", "docs/tutorials/agent.md", "src/misstep/core/README.md"}
    assert wanted <= set(FILES)
    assert {*LEFT_OUT} <= {*FILES, "benchmarks/RESULTS.md"}


def test_what_is_too_long_is_found() -> None:
    long = "word " * 21
    link = f"[{'text ' * 10}](https://example.org/{'x' * 60})"
    shown = [long, f"| {long} |", f"- {link}", link, f"{link} and more", f"- {long}", f'<img src="{long}">']
    text = f"```text\n{long}\n```\n" + "\n".join(shown)
    assert [number for number, _ in long_lines(text)] == [4, 8, 9]
