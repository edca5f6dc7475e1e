"""Shows the comparison of two runs in an HTML page."""

from collections.abc import Callable, Iterator, Sequence

from misstep.core.results.comparison import Comparison, TaskComparison
from misstep.rendering.comparison import conclusion, efforts, note_on_p, rates
from misstep.rendering.html.markup import Markup, Row, element, grid, pairs, text
from misstep.rendering.html.sections import page_section
from misstep.rendering.words import points, sentence

SHOWN = 500  # cases of each kind


def comparison_parts(
    comparison: Comparison | TaskComparison,
    names: Sequence[str],
    runs: Sequence[str],
    case: Callable[[str, str], str],
) -> Iterator[Markup]:
    """The conclusion, its numbers, and the cases that changed.

    `names` are what the two runs tested, `runs` their addresses; `case` returns the address of a case by its
    run and id.
    """
    unit = "tasks" if isinstance(comparison, TaskComparison) else "cases"
    pairing = comparison.pairing
    low, high = pairing.interval
    yield element("p", f"{points(pairing.difference)} points", class_="rate")
    yield element(
        "p", f"95 % interval {points(low)} to {points(high)}, on {pairing.cases:,} {unit} in common"
    )
    yield element("p", element("b", sentence(conclusion(comparison, unit))))
    ids = (comparison.first, comparison.second)
    yield pairs(
        (place, element("span", element("a", f"run {run}", href=address), " ", text(name)))
        for place, run, address, name in zip(("first", "second"), ids, runs, names, strict=True)
    )
    crossing = [
        Row(("first passed", f"{pairing.both:,}", f"{pairing.first_only:,}")),
        Row(("first failed", f"{pairing.second_only:,}", f"{pairing.neither:,}")),
    ]
    table = grid(("", "second passed", "second failed"), crossing)
    yield page_section(f"{unit.capitalize()} in common", table, *_rates(comparison, unit))
    for which, cases in (("first", comparison.lost), ("second", comparison.won)):
        if cases:
            title = f"Only the {which} passed: {len(cases):,} {unit if len(cases) > 1 else unit[:-1]}"
            yield page_section(title, _list(comparison, cases, case))


def _rates(comparison: Comparison | TaskComparison, unit: str) -> Iterator[Markup]:
    heading, parts = rates(comparison)
    headings = (heading, unit, "first", "second", "difference", "95 % interval", "p")
    yield grid(headings, [Row(row) for row in parts])
    yield element("p", note_on_p(heading, len(parts) - 1), class_="caption")
    if isinstance(comparison, TaskComparison):
        yield grid(("to a task", "first", "second"), [Row(row) for row in efforts(comparison)])


def _list(
    comparison: Comparison | TaskComparison, cases: Sequence[str], case: Callable[[str, str], str]
) -> Markup:
    """Each case with links to both outcomes; tasks have no pages of their own."""
    linked = isinstance(comparison, Comparison)

    def item(name: str) -> Markup:
        if not linked:
            return element("li", element("code", text(name)))
        ways = [
            element("a", which, href=case(run, name), aria_label=f"case {name} in the {which} run")
            for which, run in (("first", comparison.first), ("second", comparison.second))
        ]
        return element("li", element("code", text(name)), " ", ways[0], " ", ways[1])

    more = [element("li", f"… and {len(cases) - SHOWN:,} more", class_="dim")] if len(cases) > SHOWN else []
    return element("ul", *map(item, cases[:SHOWN]), *more, class_="flipped")
