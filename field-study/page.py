"""Write docs/explanation/field-study.md from the results, the labels and `page.md`."""

import json
from collections import Counter
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import msgspec
from packages import HERE, Package, labels, packages

PAGE = HERE.parent / "docs" / "explanation" / "field-study.md"
LABELS = ("true", "debatable", "false")
WRONG_RESULTS = ("contract", "schema", "acceptance", "protocol")  # kinds of findings


class Group(msgspec.Struct, frozen=True):
    """A cause as the first reader tells it apart: misstep may have listed it several times.

    The second reader calls all but one of these false. `reason` is of the first label that does not refer to
    another.
    """

    package: Package
    name: str
    reason: str
    tool: str
    kind: str
    error: str
    first: str
    second: str

    @property
    def label(self) -> str:
        """The label of both readings; a cause on which they differ is debatable."""
        return self.first if self.first == self.second else "debatable"


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    studied = [package for package in packages() if package.result()]
    found = [group for package in studied for group in _groups(package)]
    others = list(_of_other_runs(studied))
    text = (HERE / "page.md").read_text()
    for name, lines in (
        ("totals", _totals(studied, found, len(others))),
        ("packages", _table(studied, found)),
        ("true", _listed(found, "true")),
        ("others", _listed(others, "true")),
        ("false", _listed(found, "false")),
        ("patches", _patches()),
    ):
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    return text


def _groups(package: Package) -> list[Group]:
    listed = dict[str, list[tuple[dict[str, Any], dict[str, str]]]]()
    for cause in _result(package)["causes"]:
        about = labels()[package.key, cause["id"]]
        listed.setdefault(about["group"], []).append((cause, about))
    return [_group(package, name, causes) for name, causes in listed.items()]


def _group(package: Package, name: str, causes: list[tuple[dict[str, Any], dict[str, str]]]) -> Group:
    cause, about = next((each for each in causes if not each[1]["reason"].startswith("Same ")), causes[0])
    second = min((each["second"] for _, each in causes), key=LABELS.index)
    about_call = (cause["tool"], cause["kind"], cause["error"])
    return Group(package, name, about["reason"], *about_call, about["label"], second)


def _of_other_runs(studied: list[Package]) -> Iterator[Group]:
    """The causes that both readings call true, and that other runs than those in the results have shown."""
    by_key = {package.key: package for package in studied}
    for line in (HERE / "other_runs.jsonl").read_text().splitlines():
        row = json.loads(line)
        about = (row[name] for name in ("group", "reason", "tool", "kind", "error", "label", "second"))
        yield Group(by_key[row["package"]], *about)


def _totals(studied: list[Package], found: list[Group], others: int) -> Iterator[str]:
    results = [_result(package) for package in studied]
    tools = [tool for result in results for tool in _own_tools(result)]
    calls, accepted = (sum(result[name] for result in results) for name in ("calls", "accepted"))
    listed = sum(len(result["causes"]) for result in results)
    tested = sum(tool["tested"] for tool in tools)
    causes = Counter(group.label for group in found)
    without = [f"`{package.name}`" for package in packages() if package not in studied]
    yield from _wrapped(
        f"- {len(studied)} packages with {len(tools)} tools, resources and prompts that were called, of which"
        f" {tested} accepted a call at least once"
    )
    yield f"- {calls:,} calls, of which {accepted:,} ({accepted / calls:.0%}) were accepted"
    whole = sum(all(map(_is_inside, _own_tools(result))) for result in results)
    inside = sum(map(_is_inside, tools))
    yield from _wrapped(
        f"- {inside} tools accepted at least half of their calls; in {whole} packages, each tool did"
    )
    yield f"- {len(found)} causes, which misstep listed as {listed}"
    for name in LABELS:
        more = f", and {others} more that other runs have shown" if name == "true" else ""
        yield f"- {causes[name]} {name} causes{more}"
    wrong = sum(group.label == "true" and group.kind in WRONG_RESULTS for group in found)
    flags = sum(group.label == "true" and group.error == "error flag" for group in found)
    yield from _wrapped(
        f"- of the true causes, {wrong} are broken contracts or wrong results, {flags} of them errors that"
        " are reported as successes"
    )
    agreed = sum(group.first == group.second for group in found)
    yield from _wrapped(
        f"- the two readings agree on {agreed} of {len(found)} causes (Cohen's kappa {_kappa(found):.2f})"
    )
    if without:
        yield from _wrapped(f"- listed packages without a result: {', '.join(without)}")


def _kappa(found: list[Group]) -> float:
    """The agreement of the two readings beyond chance."""
    observed = sum(group.first == group.second for group in found) / len(found)
    first, second = Counter(group.first for group in found), Counter(group.second for group in found)
    expected = sum(first[name] * second[name] for name in LABELS) / len(found) ** 2
    return (observed - expected) / (1 - expected)


def _table(studied: list[Package], found: list[Group]) -> Iterator[str]:
    names = "package", "version", "tools", "inside", "calls per tool", "calls", "accepted", *LABELS
    yield _row(*names)
    yield f"|{'---|' * len(names)}"
    for package in studied:
        result = _result(package)
        counts = Counter(group.label for group in found if group.package == package)
        tools, inside = _own_tools(result), sum(map(_is_inside, _own_tools(result)))
        numbers = len(tools), inside, result["calls_per_tool"], result["calls"], result["accepted"]
        yield _row(package.name, package.version, *numbers, *(counts[name] or "" for name in LABELS))


def _listed(found: list[Group], label: str) -> Iterator[str]:
    for group in found:
        if group.label == label:
            yield from _wrapped(f"- `{group.package.name}`, `{group.tool}` ({group.kind}): {group.reason}")


def _patches() -> Iterator[str]:
    yield "| patch | package | cause |"
    yield "|---|---|---|"
    for file in sorted((HERE / "patches").glob("*.patch")):
        package, cause = file.read_text().splitlines()[:2]
        yield _row(f"`{file.stem}`", package.removeprefix("Package: "), cause.removeprefix("Cause: "))


def _result(package: Package) -> dict[str, Any]:
    return package.result() or {}


def _own_tools(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [tool for tool in result["tools"] if tool["name"] != "(together)"]


def _is_inside(tool: dict[str, Any]) -> bool:
    """Whether at least half of a tool's calls got past validation."""
    return bool(2 * tool["accepted"] >= tool["calls"] > 0)


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _wrapped(line: str) -> list[str]:
    return wrap(line, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
