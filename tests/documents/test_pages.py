"""Every block of every page is carried out, in the order in which it stands, from an empty folder on."""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from misstep.core.settings import Settings
from misstep.runs.setup.configuration import load_settings
from tests.documents.models import model_of
from tests.documents.page_session import Desk, Printed
from tests.documents.pages import PAGES, ROOT, Block, blocks, text_of
from tests.documents.requirements import complaint_about
from tests.documents.unrun import UNRUN
from tests.interop.receiver import receiving
from tests.snapshots import scrub

TYPED = [page for page in PAGES if blocks(page)]
POSTGRESQL = "postgresql://me@db.example/misstep"
RAY = "head.example:6379"
LOCAL = "http://127.0.0.1:8000/v1"
OTLP = "http://127.0.0.1:4318"


@pytest.fixture
def variables(page: str) -> Iterator[dict[str, str]]:
    """What a page needs of its surroundings: a model that has a script, in place of those that cost money."""
    with model_of(page) as server:
        yield {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": server.base_url.removesuffix("/v1"),
            "ANTHROPIC_API_KEY": "sk-test",
        }


@pytest.fixture
def places(request: pytest.FixtureRequest, page: str, variables: dict[str, str]) -> dict[str, str]:
    """Addresses on this machine for those that a page makes up."""
    homes = {POSTGRESQL: "postgresql_location", RAY: "ray_address", OTLP: "otlp_address"}
    wanted = {made_up: home for made_up, home in homes.items() if made_up in text_of(page)}
    found = {made_up: request.getfixturevalue(home) for made_up, home in wanted.items()}
    return {LOCAL: variables["OPENAI_BASE_URL"], **found}


@pytest.fixture
def otlp_address() -> Iterator[str]:
    with receiving() as receiver:
        yield receiver.url
        assert receiver.spans


@pytest.fixture
def ray_address() -> Iterator[str]:
    from tests.clusters import ray_cluster

    with ray_cluster() as cluster:
        yield cluster.address


@pytest.mark.full
@pytest.mark.parametrize("page", TYPED)
def test_page(page: str, variables: dict[str, str], places: dict[str, str], tmp_path: Path) -> None:
    with Desk(tmp_path, variables) as desk:
        for block in blocks(page):
            assert block.language in HANDLERS, (
                f"{block.place}: nobody knows what a '{block.language}' block is for"
            )
            HANDLERS[block.language](block, desk, places)


def follow(block: Block, desk: Desk, places: dict[str, str]) -> None:
    """Type what the block says, and hold what is printed against what it shows."""
    assert block.commands, f"{block.place}: there is nothing to type"
    for command, shown in block.commands:
        if (block.page, command) in UNRUN:
            continue
        if (complaint := complaint_about(command)) is not None:
            assert complaint == "", f"{block.place}: {command}\n{complaint}"
            continue
        printed = desk.type(with_runs(with_real(command, places), desk))
        assert printed.code in (0, 1), f"{block.place}: {command}\n{printed.text}"
        assert shows(shown, printed), f"{block.place}: {command}\n{printed.text}"
        if " plan test " in command and " --json" not in command:
            assert not re.search(r"^errored +[1-9]", printed.text, re.MULTILINE), f"{command}\n{printed.text}"


def with_real(command: str, places: dict[str, str]) -> str:
    for made_up, real in places.items():
        command = command.replace(made_up, real)
    return command


def with_runs(command: str, desk: Desk) -> str:
    """A command with the newest runs, as `misstep runs` lists them, in the places of `RUN`."""
    wanted = len(re.findall(r"\bRUN\b", command))
    if wanted:
        listed = json.loads(desk.type("misstep runs --json").text)["runs"]
        for run in reversed(listed[:wanted]):
            command = re.sub(r"\bRUN\b", run["run"], command, count=1)
    return command


def shows(shown: str, printed: Printed) -> bool:
    """Whether the page's text is in the output; a line with just … stands for any lines, … in one for any words."""
    pieces = re.split(r"^…$", scrub(shown), flags=re.MULTILINE)
    patterns = [re.escape(piece.strip("\n")).replace("…", ".*") for piece in pieces]
    return re.search(r"[\s\S]*?".join(patterns), scrub(printed.text)) is not None


def python(block: Block, desk: Desk, places: dict[str, str]) -> None:
    ast.parse(block.text)
    if not save(block, desk):
        printed = desk.run(block.text)
        assert printed.code == 0, f"{block.place}\n{printed.text}"


def toml(block: Block, desk: Desk, places: dict[str, str]) -> None:
    tomllib.loads(block.text)
    assert save(block, desk), f"{block.place}: its first line does not say which file it is"
    if block.name == "misstep.toml":
        assert load_settings(desk.folder, {}) != Settings()


def yml(block: Block, desk: Desk, places: dict[str, str]) -> None:
    yaml.safe_load(block.text)
    assert block.page in CI, f"{block.place}: YAML is for CI, whose lines are run by tests/test_ci.py"


def save(block: Block, desk: Desk) -> bool:
    """Save the block as the file that its first line names, as a reader would paste it: with that line."""
    if block.name:
        path = desk.folder / block.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    return bool(block.name)


def parse(block: Block, desk: Desk, places: dict[str, str]) -> None:
    json.loads(block.text)


def look(block: Block, desk: Desk, places: dict[str, str]) -> None:
    assert not re.search(r"^(\$ |misstep )", block.text, re.MULTILINE), (
        f"{block.place}: commands are for console"
    )


CI = ("docs/how-to/ci.md",)
HANDLERS: dict[str, Callable[[Block, Desk, dict[str, str]], None]] = {
    "console": follow,
    "sh": follow,
    "python": python,
    "toml": toml,
    "yaml": yml,
    "json": parse,
    "text": look,
}


def test_whatever_is_not_run_is_still_there() -> None:
    """The list of exceptions holds nothing that no page says any more, and a reason for each."""
    said = {(page, command) for page in PAGES for block in blocks(page) for command, _ in block.commands}
    assert UNRUN.keys() <= said
    assert all(UNRUN.values())


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    prose = re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)
    linked = re.findall(r"\]\((?!https?:)([^)\s]+)\)|(?:src|srcset)=\"(?!https?:)([^\"]+)\"", prose)
    for target in filter(None, (each for pair in linked for each in pair)):
        path, _, part = target.partition("#")
        file = (ROOT / page).parent.joinpath(path) if path else ROOT / page
        assert file.exists(), target
        assert not part or part in anchors(file), target


def anchors(file: Path) -> set[str]:
    """What can be linked to within a page: its headings, as GitHub spells them."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_found() -> None:
    """Each page of the documentation is linked to from its list, or from a page beside it."""
    pages = {page for page in PAGES if page.startswith("docs/")}
    linked = {
        (ROOT / page).parent.joinpath(target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text_of(page))
    }
    assert [page for page in pages if (ROOT / page).resolve() not in linked] == []
