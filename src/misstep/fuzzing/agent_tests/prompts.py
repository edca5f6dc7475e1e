"""Fills the prompt templates for models, which users can replace; renders tools and calls for them."""

import json
import os
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

from misstep.core.model import Template, check_template, fenced, read_template
from misstep.core.results.trial import Judged
from misstep.core.text import cut
from misstep.core.tool import Described, Invocation
from misstep.errors import UsageError, did_you_mean

Stage: TypeAlias = Literal[
    "exactly", "natural", "request", "templates", "infills", "humanise", "same", "emulate", "majority",
    "judge", "declined", "correct", "answers-greybox", "answers-whitebox", "crashes-greybox",
    "crashes-whitebox", "refusal", "foretold", "groups", "crosstalk", "fix-findings", "fix-description",
    "fix-source", "fix-explore", "fix-observed",
]  # fmt: skip

# The placeholders of each stage. A template must use all of them that are not optional.
PLACES: dict[Stage, tuple[str, ...]] = {
    "exactly": ("calls",),
    "natural": ("tools", "calls", "error", "count"),
    "request": ("tools", "calls", "error", "count"),
    "templates": ("tools", "context", "used", "count"),
    "infills": ("tools", "context", "template", "used", "count"),
    "humanise": ("tools", "requests", "count"),
    "same": ("tools", "requests"),
    "emulate": ("tools", "request"),
    "majority": ("answers",),
    "judge": ("request", "answer", "first", "second"),
    "declined": ("tools", "request", "answer"),
    "correct": ("request", "answer"),
    "answers-greybox": ("tools", "count"),
    "answers-whitebox": ("tools", "count"),
    "crashes-greybox": ("tools", "used", "count"),
    "crashes-whitebox": ("tools", "used", "count"),
    "refusal": ("tools", "request", "calls", "error"),
    "foretold": ("tools", "request", "calls", "error"),
    "groups": ("tools",),
    "crosstalk": ("tools", "count"),
    "fix-findings": ("tools", "examples", "used", "count"),
    "fix-description": ("tools", "used", "count"),
    "fix-source": ("tools", "used", "count"),
    "fix-explore": ("tools", "tried"),
    "fix-observed": ("tools", "tried", "used", "count"),
}

OPTIONAL: dict[Stage, tuple[str, ...]] = {"infills": ("context",)}

STAGES: tuple[Stage, ...] = get_args(Stage)


class Prompts:
    """The templates of all stages. `folder` may hold replacements, each named after its stage, as .txt."""

    def __init__(self, folder: str = "") -> None:
        own = _own_templates(folder) if folder else {}
        shipped = files("misstep.fuzzing.agent_tests") / "data"
        self._templates: dict[Stage, Template] = {}
        for stage in STAGES:
            name = f"{stage}.txt"
            text, where = own[stage] if stage in own else ((shipped / name).read_text("utf-8"), name)
            needed = [place for place in PLACES[stage] if place not in OPTIONAL.get(stage, ())]
            self._templates[stage] = check_template(text, where, PLACES[stage], needed)

    def fill(self, stage: Stage, **places: str) -> str:
        return self._templates[stage].fill(**places)


def _own_templates(folder: str) -> dict[str, tuple[str, str]]:
    """The user's texts by stage, each with its path. A file that is not a known prompt is an error."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".txt"))
    except OSError as error:
        raise UsageError("can't be read", str(error), where=f"--prompts {folder}") from error
    found = dict[str, tuple[str, str]]()
    for name in names:
        stage, path = name.removesuffix(".txt"), os.path.join(folder, name)
        if stage not in STAGES:
            hint = f"known stages: {', '.join(STAGES)}"
            raise UsageError("is not a known prompt", hint, did_you_mean(stage, STAGES), where=path)
        found[stage] = read_template(path), path
    return found


MOST_SHOWN = 8_000  # characters of a description or a schema
MOST_SOURCE = 20_000
NONE = "(none)"


def documentation_of(tools: Iterable[Described], with_source: bool = False) -> str:
    """Name, description and parameters of each tool, between delimiter lines that cannot occur in them."""
    return fenced("\n\n".join(_documented(tool, with_source) for tool in tools))


def documentation_for(calls: Iterable[Invocation], tools: Iterable[Described]) -> str:
    """The same, for the tools that these calls use."""
    names = {call.tool for call in calls}
    return documentation_of(tool for tool in tools if tool.name in names)


def listed(texts: Sequence[str]) -> str:
    """Texts as a JSON list between delimiter lines."""
    return fenced(json.dumps(texts, ensure_ascii=False, indent=1) if texts else NONE)


def calls_in_words(calls: Sequence[Invocation]) -> str:
    """One line per call: the tool's name and its arguments as JSON."""
    return fenced("\n".join(f"{call.tool}({cut(_readable(call.arguments), MOST_SHOWN)})" for call in calls))


def error_in_words(judged: Judged) -> str:
    said = f"{judged.error}: {judged.message}" if judged.message else judged.error
    return fenced(cut(said or judged.why, MOST_SHOWN))


def _documented(tool: Described, with_source: bool) -> str:
    schema = json.dumps(tool.tool.parameters, ensure_ascii=False)
    lines = [
        f"Name: {tool.name}",
        f"Description: {cut(tool.tool.description, MOST_SHOWN) or NONE}",
        f"Parameters: {cut(schema, MOST_SHOWN)}",
    ]
    if with_source and tool.source is not None:
        lines.append(f"Source:\n{cut(tool.source.text, MOST_SOURCE)}")
    return "\n".join(lines)


def _readable(arguments: str) -> str:
    """JSON without escapes for printable characters, which takes fewer tokens."""
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:  # not JSON, because a secret in it was masked
        text = arguments
    return text.encode("utf-8", "replace").decode()
