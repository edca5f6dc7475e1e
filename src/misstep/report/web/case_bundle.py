"""The cases of a run as a page holds them: the index of all, details of as many as there is room for."""

from collections.abc import Sequence
from typing import Any

import msgspec

from misstep.report.web.archive import Archive
from misstep.report.web.index import Digest, index_of
from misstep.report.web.markup import Markup, element, text, together, verbatim
from misstep.report.web.sections import section

NO_SCRIPTS = "The list of cases needs scripts. On a terminal, this shows them:"


def bind(digests: Sequence[Digest], archive: Archive, again: str) -> "CaseBundle":
    """The book of these cases, which the archive has the details of as far as there is room."""
    index = index_of(digests)
    lines, kept = archive.close(len(_encode(index)))
    return CaseBundle(index | {"kept": kept}, lines, again=again)


def served_at(base: str, again: str) -> "CaseBundle":
    """The book of cases that a server sends: `BASE/cases.json` and `BASE/cases/ID.json`."""
    return CaseBundle(index_of(()), base=base, again=again)


class CaseBundle(msgspec.Struct, frozen=True):
    """An index (`index_of`), and the lines of an `Archive` with the details of its first cases.

    `base` is where a server has them, and then there are no lines. `again` is the command that lists them.
    """

    index: dict[str, Any]
    lines: tuple[str, ...] = ()
    base: str = ""
    again: str = ""

    def section(self, title: str = "Cases") -> Markup:
        """Where the list goes."""
        return section(title, *self._note(), self._without_scripts(), element("div", **self._place()))

    def aside(self) -> Markup:
        """Where cases are that other parts of the page lead to."""
        return element("div", **self._place(listed="no"))

    def single(self, title: str) -> Markup:
        """Where the one case goes that there is."""
        place = element("div", class_="case", data_case=self.index["id"][0], **self._place(listed="no"))
        return section(title, self._without_scripts(), place)

    def held(self, *scripts: Markup) -> Markup:
        """What the page's scripts read: the index before them, details, which can be late, behind them."""
        return together(
            element("script", verbatim(_encode(self.index)), type="application/json", id="index"),
            *scripts,
            element("script", verbatim("\n".join(self.lines)), type="text/plain", id="details"),
        )

    def _place(self, **more: str) -> dict[str, str]:
        return {
            "id": "cases",
            "data_base": self.base,
            **{f"data_{key}": value for key, value in more.items()},
        }

    def _note(self) -> list[Markup]:
        size, kept = len(self.index["id"]), self.index["kept"]
        if kept >= size:
            return []
        told = f"Details of {kept:,} of {size:,} cases are in this file, failures first"
        said = f"{told}; misstep serve shows all."
        return [element("p", said, class_="caption")]

    def _without_scripts(self) -> Markup:
        return element("noscript", element("p", NO_SCRIPTS), element("pre", text(self.again)))


def _encode(index: dict[str, Any]) -> str:
    """JSON in which nothing can end the element it stands in."""
    source = msgspec.json.encode(index).decode()
    for letter in "<>&":
        source = source.replace(letter, f"\\u{ord(letter):04x}")
    return source
