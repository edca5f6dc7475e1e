"""One browser for each worker, a fresh profile for each test, and pages that never complain."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Visitor, find_program, running_browser
from tests.browser.runs import write_page


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """While it is there, its event loop runs in this thread: it goes before tests of other rooms begin."""
    program = find_program()
    if program is None:
        pytest.skip("no Chromium is installed: make browser")
    pytest.importorskip("playwright")
    with running_browser(program) as browser:
        yield browser


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visitor]]:
    """Visitors with settings of their own; none may have met an error, or asked the network for anything."""
    opened = list[tuple[Any, Visitor]]()

    def visit(width: int = 1280, height: int = 900, **settings: Any) -> Visitor:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        opened.append((context, Visitor(context)))
        return opened[-1][1]

    yield visit
    for context, visitor in opened:
        context.close()
        assert visitor.complaints == []


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a run of some kind, made once."""
    folder, made = tmp_path_factory.mktemp("pages"), dict[str, Path]()

    def page_of(kind: str) -> Path:
        if kind not in made:
            with ThreadPoolExecutor(1) as beside:  # the browser's event loop is in this thread
                made[kind] = beside.submit(write_page, kind, folder).result()
        return made[kind]

    return page_of
