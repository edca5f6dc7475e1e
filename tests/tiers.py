"""Tests in two tiers: `make test` runs the fast one, `make test-all` the full one.

- `pytestmark = pytest.mark.full` puts a file into the full tier, `@pytest.mark.full` a test.
- `@pytest.mark.full(after=2)` leaves the first two parameters of a test in the fast tier.
- `@pytest.mark.both` runs a test in both tiers, with fewer `examples` in the fast one.

Tests without a mark are in the fast tier. Files are chosen by their text before they are imported, since imports
take most of the collection's time.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

TIERS = ("fast", "full", "all")
SHARE, LEAST = 20, 10  # the fast tier runs one example in twenty, and at least ten

# Text that marks a whole file, and text that marks anything in it. A `conftest.py` may mark tests of its folder.
WHOLE_FILE = re.compile(r"^pytestmark = (?:\[\s*)?pytest\.mark\.full\b(?!\()", re.MULTILINE)
ANY_MARK = re.compile(r"\bmark\.(?:full|both)\b|^from tests\.tiers import ", re.MULTILINE)

Test = TypeVar("Test", bound=Callable[..., Any])


RUNNING = list[pytest.Item]()


def examples(number: int) -> int:
    """How many examples a test tries that runs in both tiers: all of them, or a small share in the fast one."""
    if not RUNNING or RUNNING[-1].get_closest_marker("both") is None:
        raise RuntimeError("examples() is for tests with @pytest.mark.both, which try all examples later")
    return share_of(number)


def share_of(number: int) -> int:
    is_fast = settings.get_current_profile_name() == "fast"
    return min(number, max(LEAST, number // SHARE)) if is_fast else number


def many_examples(number: int, **others: Any) -> Callable[[Test], Test]:
    """Settings of a property that tries few examples in the fast tier and all of them in the full one."""
    chosen = settings(max_examples=share_of(number), **others)
    return lambda test: pytest.mark.both(chosen(test))  # type: ignore[no-any-return]


def some_full(values: Iterable[Any], is_full: Callable[[Any], bool]) -> list[Any]:
    """Parameters, some of which run in the full tier only."""
    return [pytest.param(each, marks=pytest.mark.full) if is_full(each) else each for each in values]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=TIERS, default="all", help="Which tests to run; see tests/tiers.py.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full(after=0): runs in the full tier, from that parameter on")
    config.addinivalue_line("markers", "both: runs in both tiers, with fewer examples in the fast one")
    # How long anything takes says nothing about it on a machine that has other things to do.
    settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("fast", settings.get_profile("full"))
    settings.load_profile("fast" if config.getoption("tier") == "fast" else "full")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    return True if is_left_out(collection_path, config.getoption("tier")) else None


def is_left_out(path: Path, tier: str) -> bool:
    """Whether no test of a file is in the tier, as far as its text tells."""
    if tier == "fast":
        return WHOLE_FILE.search(text_of(path)) is not None
    return tier == "full" and not has_marks(path)


def has_marks(path: Path) -> bool:
    return any(ANY_MARK.search(text_of(each)) for each in (path, path.with_name("conftest.py")))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is in the tier; parameters are counted in the order in which they are written."""
    tier = config.getoption("tier")
    seen = Counter[str]()
    kept, dropped = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        function = item.nodeid.partition("[")[0]
        found = tiers_of(item, seen[function])
        seen[function] += 1
        (kept if tier in (*found, "all") else dropped).append(item)
    items[:] = kept
    if dropped:
        config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    RUNNING.append(item)
    try:
        return (yield)
    finally:
        RUNNING.pop()


def tiers_of(item: pytest.Item, index: int) -> tuple[str, ...]:
    full, both = list(item.iter_markers("full")), item.get_closest_marker("both")
    if (full or both) and not has_marks(item.path):
        raise pytest.UsageError(
            f"{item.nodeid} is marked by another file, and the full tier would miss it: see tests/tiers.py"
        )
    if any(index >= mark.kwargs.get("after", 0) for mark in full):
        return ("full",)
    return ("fast", "full") if both else ("fast",)
