"""Makes sets of paraphrased requests with a model, from templates, and checks that they mean the same."""

from collections.abc import AsyncGenerator, Sequence

import msgspec
from msgspec import structs

from misstep.core.model import Unusable, fenced
from misstep.core.results.consistency import CHECKS, Check, PromptSet
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.parties import Models, told
from misstep.fuzzing.agent_tests.prompts import documentation_of, listed
from misstep.fuzzing.consistency.buckets import Normalise
from misstep.fuzzing.consistency.forms import (
    Infills,
    fill_template,
    infills_form,
    same_form,
    same_number_form,
    templates_form,
)


class Approach(msgspec.Struct, frozen=True):
    """How sets are made and judged: only `checks` are used, and a set has up to `variants` requests.

    `context` is known in addition to the tool's documentation. `normalise` is applied to texts before they
    are compared.
    """

    checks: tuple[Check, ...] = CHECKS
    variants: int = 5
    context: str = ""
    normalise: Normalise | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            raise UsageError("no check is left", f"known checks: {', '.join(CHECKS)}", where="--checks")


NOTHING = "(nothing)"
FEWEST = 2  # messages to compare
ROUNDS = 3  # attempts to get more templates, if a model returns too few


class SetDraft(msgspec.Struct, frozen=True, omit_defaults=True):
    """A set that has not been run yet. `why` says why it could not be made, if so."""

    template: str = ""
    infills: Infills = {}
    requests: tuple[str, ...] = ()
    why: str = ""


async def make_sets(
    tool: Described,
    models: Models,
    approach: Approach,
    count: int,
    before: Sequence[PromptSet] = (),
    ideas: list[str] | None = None,
) -> AsyncGenerator[SetDraft]:
    """Make up to `count` sets for a tool, yielded one by one. Nothing from `before` is repeated.

    There are fewer if the model runs out of templates. `ideas` holds all templates it has proposed, used or
    not; new ones are appended, so that a caller who saves it can resume.
    """
    used = [value for each in before for values in each.infills.values() for value in values]
    spoilt = [each.template for each in before if each.template]
    templates = ideas if ideas is not None else []
    templates += [each for each in spoilt if each not in templates]
    new = tuple(each for each in templates if each not in spoilt)[:count]
    made = 0
    for _ in range(ROUNDS):
        if made >= count:
            return
        if not new:
            try:
                new = await _templates(tool, models, approach, count - made, templates)
            except Unusable as error:
                yield SetDraft(why=f"no templates were made: {told(error)}")
                return
            templates += new
        for template in new:
            draft = await _draft(template, tool, models, approach, used)
            used += [value for values in draft.infills.values() for value in values]
            made += 1
            yield draft
        new = ()


async def _templates(
    tool: Described, models: Models, approach: Approach, count: int, used: Sequence[str]
) -> tuple[str, ...]:
    return await models.ask(
        "generator",
        "templates",
        templates_form(count, used),
        tools=documentation_of([tool]),
        context=fenced(approach.context or NOTHING),
        used=listed(used),
        count=str(count),
    )


async def _draft(
    template: str, tool: Described, models: Models, approach: Approach, used: Sequence[str]
) -> SetDraft:
    infills: Infills = {}
    try:
        infills = await models.ask(
            "generator",
            "infills",
            infills_form(template, approach.variants, used),
            tools=documentation_of([tool]),
            context=fenced(approach.context or NOTHING),
            template=fenced(template),
            used=listed(used),
            count=str(approach.variants),
        )
        stiff = fill_template(template, infills, approach.variants)
        requests = await models.ask(
            "generator",
            "humanise",
            same_number_form(len(stiff)),
            tools=documentation_of([tool]),
            requests=listed(stiff),
            count=str(len(stiff)),
        )
    except Unusable as error:
        what = "no messages" if infills else "no infills"
        return SetDraft(template, infills, why=f"{what} were made: {told(error)}")
    return await _checked(SetDraft(template, infills, requests), tool, models)


async def _checked(draft: SetDraft, tool: Described, models: Models) -> SetDraft:
    """Remove messages that mean something else, according to a model that did not write them.

    It is asked once for the whole set, before the set is run.
    """
    requests = draft.requests
    places = {"tools": documentation_of([tool]), "requests": listed(requests)}
    try:
        found = await models.ask("judge", "same", same_form(len(requests)), **places)
    except Unusable as error:
        why = f"it is not known whether the messages mean the same: {told(error)}"
        return structs.replace(draft, why=why)
    alike = tuple(each for number, each in enumerate(requests, 1) if number not in found.different)
    if len(alike) < FEWEST:
        return structs.replace(draft, why=f"the messages do not mean the same: {found.reason}")
    return structs.replace(draft, requests=alike)
