"""Asks models for better words about a tool, by one strategy or another."""

from collections.abc import Awaitable, Callable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from msgspec import structs

from misstep.core.descriptions import Wording, reworded
from misstep.core.dice import Dice, derive_seed
from misstep.core.fixing import MOST_WORDS, Candidate, Strategy
from misstep.core.model import Unusable
from misstep.core.template import fenced
from misstep.core.tool import Described, Invocation
from misstep.core.words import cut
from misstep.tooling.asking.documentation import documentation_of, listed
from misstep.tooling.asking.parties import Models
from misstep.tooling.asking.prompts import Stage
from misstep.tooling.asking.trouble import told
from misstep.tooling.fixing.forms import (
    Proposal,
    argued_form,
    observed_form,
    planned_form,
    rewritten_form,
    wrong_at_last,
)

EXAMPLES = 8  # that a model is shown at once
ROUNDS = 5  # of trying a tool and rewriting
ALIKE = 0.95  # so much of a text has to stay for it to have converged
SHOWN = 2_000  # characters of what a tool answered

# Makes a call of the tool where it is safe, and gives what an agent would be told.
Call: TypeAlias = Callable[[Invocation], Awaitable[str]]


class Proposer:
    """Asks for words about one tool. Nothing is proposed twice, as long as the model has other ideas."""

    def __init__(
        self, tool: Described, models: Models, examples: Sequence[str], seed: int, call: Call
    ) -> None:
        self._tool = tool
        self._models = models
        self._examples = examples
        self._seed = seed
        self._call = call

    async def propose(self, number: int, strategy: Strategy, before: Sequence[Candidate]) -> Candidate:
        """A candidate, which has no words if the model gave none that can be used."""
        used = [each.wording for each in before if each.wording is not None]
        blank = Candidate(number, strategy)
        try:
            if strategy == "explore":
                return await self._explored(blank, used)
            proposal = await self._written(strategy, number, used)
        except Unusable as error:
            return structs.replace(blank, why=told(error))
        return structs.replace(blank, wording=proposal.wording, why=cut(proposal.why, SHOWN))

    async def _written(self, strategy: Strategy, number: int, used: Sequence[Wording]) -> Proposal:
        tool, models = self._tool, self._models
        told = {"tools": documentation_of([tool], strategy == "source"), **_limits(used)}
        if strategy == "findings":
            form = argued_form(tool, used)
            return await models.ask("generator", "fix-findings", form, **told, examples=self._drawn(number))
        stage: Stage = "fix-source" if strategy == "source" else "fix-description"
        return await models.ask("generator", stage, rewritten_form(tool, used), **told)

    def _drawn(self, number: int) -> str:
        """Some of what went wrong, others for each candidate where there is more than a model is shown."""
        dice = Dice(derive_seed(self._seed, "examples", number))
        drawn = dice.sample(list(self._examples), min(EXAMPLES, len(self._examples)))
        return fenced("\n\n".join(drawn) or "(none)")

    async def _explored(self, blank: Candidate, used: Sequence[Wording]) -> Candidate:
        """Words that were made better by trying the tool, until they stay what they are."""
        now, tried, why = Wording(), list[str](), ""
        for _ in range(ROUNDS):
            tool = reworded(self._tool, {self._tool.name: now})
            try:
                tried.append(await self._try(tool, tried))
                proposal = await self._observed(tool, tried, used)
            except Unusable as error:
                why = told(error)
                break
            before, now = now, _joined(now, proposal.wording)
            if _alikeness(_whole(tool, before), _whole(tool, now)) >= ALIKE:
                break
        wrong = why if now == Wording() else wrong_at_last(now, self._tool, used)
        found = None if wrong or now == Wording() else now
        return structs.replace(blank, wording=found, why=wrong, tried=tuple(tried))

    async def _try(self, tool: Described, tried: Sequence[str]) -> str:
        """A call that the model wants to see made, and what came of it."""
        documented = documentation_of([tool])
        arguments = await self._models.ask(
            "generator", "fix-explore", planned_form(tool), tools=documented, tried=listed(tried)
        )
        said = await self._call(Invocation(tool.name, arguments))
        return f"{tool.name}({cut(arguments, SHOWN)}) → {cut(said, SHOWN)}"

    async def _observed(self, tool: Described, tried: Sequence[str], used: Sequence[Wording]) -> Proposal:
        """Better words after what was seen, or the same again where there are none."""
        told = {"tools": documentation_of([tool]), "tried": listed(tried), **_limits(used)}
        return await self._models.ask("generator", "fix-observed", observed_form(tool), **told)


def _limits(used: Sequence[Wording]) -> dict[str, str]:
    return {"used": listed([each.description or "" for each in used]), "count": str(MOST_WORDS)}


def _joined(before: Wording, after: Wording) -> Wording:
    return Wording(after.description, {**before.parameters, **after.parameters})


def _whole(tool: Described, wording: Wording) -> str:
    return "\n".join((wording.description or tool.tool.description, *wording.parameters.values()))


def _alikeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
