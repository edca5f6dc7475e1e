"""Cases of every kind that misstep synthesises."""

from collections.abc import Iterator
from itertools import product

from misstep.core.agent import Tool
from misstep.core.case import Case
from misstep.core.constraint import FAMILIES, Family
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.problems import least_actions
from misstep.planning.synthesis.suite import Suite, make_case

MIXTURES: list[tuple[Family, ...]] = [
    *((family,) for family in FAMILIES),
    ("order", "time"),
    ("order", "data", "choice"),
    ("order", "adjacent", "repeat"),
    ("time", "data", "dynamic"),
    ("order", "budget", "dynamic"),
    FAMILIES,
]
TEMPLATES = ("role-play", "brief", "memo")
RECIPE = Recipe(redundancy=0.2, relative=0.4)
TOOLS = (
    Tool(
        "search",
        "Search.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    ),
    Tool("ping", "Ping.", {"type": "object", "properties": {}}),
    Tool(
        "add-up",
        "Add.",
        {
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "values": {"type": "array", "items": {"type": "number"}},
            },
            "required": ["a", "values"],
        },
    ),
    Tool(
        "mail_2",
        "",
        {"type": "object", "properties": {"to": {"enum": ["Zoë", "a. B; c"]}}, "required": ["to"]},
    ),
    Tool("clean", "Clean up.", {"type": "object", "properties": {"all": {"type": "boolean"}}}),
)


def mixed(families: tuple[Family, ...], count: int, seed: int = 0, **more: object) -> Iterator[Case]:
    """Problems of some families, small ones and larger ones."""
    given: dict[str, object] = {"recipe": RECIPE, **more}
    suite = Suite(seed, least_actions(families), 8, families=families, **given)  # type: ignore[arg-type]
    return (make_case(suite, index) for index in range(count))


def own(count: int, seed: int = 0) -> Iterator[Case]:
    """Problems on tools of the user's own."""
    mixtures: list[tuple[Family, ...]] = [("order",), ("order", "choice", "dynamic"), ("adjacent", "repeat")]
    for families, distractors in product(mixtures, (0, 1)):
        suite = Suite(seed, 3, 4, families=families, tools=TOOLS, distractors=distractors)
        yield from (make_case(suite, index) for index in range(count))


def every_kind(each: int, seed: int = 0) -> Iterator[Case]:
    """Cases of every mixture, on tools of ours and of the user's."""
    for families in MIXTURES:
        yield from mixed(families, each, seed)
    yield from own(max(1, each // 4), seed)
