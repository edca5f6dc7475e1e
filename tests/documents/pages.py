"""Pages as a reader meets them: blocks to type, to save or to look at, in the order in which they stand."""

import re
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
)

_FENCE = re.compile(r"^( *)```([\w+-]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"# ([\w./-]+\.(?:py|toml|yml|yaml|txt))\n")


class Block(msgspec.Struct, frozen=True):
    """A fenced block; `line` is where it begins in its page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def name(self) -> str:
        """The name of the file that it shows, if a comment with nothing else is its first line."""
        found = _NAME.match(self.text)
        return found[1] if found else ""

    @property
    def commands(self) -> list[tuple[str, str]]:
        """What is to be typed, with what is printed then."""
        if self.language == "sh":
            joined = self.text.replace("\\\n", " ")
            return [(bare(line), "") for line in joined.splitlines() if bare(line)]
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        return [(bare(command), output) for command, _, output in (part.partition("\n") for part in parts)]


def bare(command: str) -> str:
    """A command without the remark behind it."""
    return re.sub(r"(^|\s+)# .*", "", command).strip()


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    text = text_of(page)
    return [
        Block(
            page, text.count("\n", 0, found.start()) + 1, found[2], re.sub(rf"(?m)^{found[1]}", "", found[3])
        )
        for found in _FENCE.finditer(text)
    ]


def write_files(page: str, folder: Path) -> None:
    """The files that a page shows, pasted as they stand: the line with the name is a comment in them."""
    for block in blocks(page):
        if block.name and block.language in ("python", "toml"):
            (folder / block.name).write_text(block.text, encoding="utf-8")
