"""The words in which models are asked, out of template files that users can replace by their own."""

import os
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

from misstep.core.template import Template, check_template, read_template
from misstep.errors import UsageError, did_you_mean

Stage: TypeAlias = Literal[
    "exactly",
    "natural",
    "request",
    "templates",
    "infills",
    "humanise",
    "same",
    "emulate",
    "majority",
    "judge",
    "declined",
    "correct",
    "answers-greybox",
    "answers-whitebox",
    "crashes-greybox",
    "crashes-whitebox",
    "refusal",
    "foretold",
    "groups",
    "crosstalk",
    "fix-findings",
    "fix-description",
    "fix-source",
    "fix-explore",
    "fix-observed",
]

# What each stage tells. A template has to make use of all but what is optional.
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
    """The templates of all stages. `folder` may hold the user's own, each named like its stage, as .txt."""

    def __init__(self, folder: str = "") -> None:
        own = _own_templates(folder) if folder else {}
        self._templates: dict[Stage, Template] = {}
        for stage in STAGES:
            text, where = own.get(stage, (_shipped(stage), f"{stage}.txt"))
            needed = [place for place in PLACES[stage] if place not in OPTIONAL.get(stage, ())]
            self._templates[stage] = check_template(text, where, PLACES[stage], needed)

    def fill(self, stage: Stage, **places: str) -> str:
        return self._templates[stage].fill(**places)


def _own_templates(folder: str) -> dict[str, tuple[str, str]]:
    """Texts by stage, each with where it is. A file that belongs to no stage is a mistake."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".txt"))
    except OSError as error:
        raise UsageError("can't be read", str(error), where=f"--prompts {folder}") from error
    found = dict[str, tuple[str, str]]()
    for name in names:
        stage, path = name.removesuffix(".txt"), os.path.join(folder, name)
        if stage not in STAGES:
            hint = f"known stages: {', '.join(STAGES)}"
            raise UsageError("belongs to no stage", hint, did_you_mean(stage, STAGES), where=path)
        found[stage] = read_template(path), path
    return found


def _shipped(stage: Stage) -> str:
    return (files("misstep.tooling.asking") / "data" / f"{stage}.txt").read_text("utf-8")
