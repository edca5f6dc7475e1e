"""Makes a plan for a request in free text from two independent readings of it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from misstep.adapters.toolset.spec import tools_from
from misstep.core.agent import Tool
from misstep.core.model import LanguageModel, Late, Message, ModelError, Template, Unusable, fenced
from misstep.core.outcome import Usage, storable
from misstep.core.settings import AgentRunSettings, Settings
from misstep.core.spending import AGENT, Spent
from misstep.core.text import cut, tidy
from misstep.engine.structured_client import StructuredClient
from misstep.errors import BudgetExceeded, UsageError
from misstep.features.repair.view import formally
from misstep.planning.repair.outcome import (
    Conflict,
    ConflictLine,
    Repair,
    RepairReport,
    RuleLine,
    SaidBy,
    ToolLine,
    examine,
)
from misstep.planning.repair.reading import MANNERS, Manner, RequestReading, checked_form
from misstep.rendering.case import in_brief
from misstep.runs.budget import FLAGS, left_of
from misstep.runs.lifecycle import CHARACTERS, refuse_running_loop
from misstep.runs.setup.models import Tell, open_model, price_role, refuse_blind_budget

MOST_REQUEST = 50_000  # characters
DESCRIPTION = 500  # characters of a tool's description that the model sees
EXPECTED = 400  # tokens of an answer, roughly

_READINGS: tuple[SaidBy, SaidBy] = ("first", "second")


def repair(settings: Settings, request: str, tell: Tell) -> RepairReport:
    """Let the model read the request twice, in two formats, and make a plan for what both readings say.

    The tools are inspected and never called. An answer in the wrong format raises a `ModelError`;
    disagreements and contradictions are in the report.
    """
    settings = settings.overlay({"agent": ""})  # it is not used here, so its price does not matter
    request = tidy(storable(request))
    if not request:
        raise UsageError("the request is empty", where="--request")
    if len(request) > MOST_REQUEST:
        size, most = f"the request has {len(request):,} characters", f"expected at most {MOST_REQUEST:,}"
        raise UsageError(size, most, where="--request")
    if not settings.tools:
        raise UsageError("no tools were given", "name them with --tools: tools.json, file.py:name, mcp:…")
    refuse_blind_budget(settings)
    refuse_running_loop()
    tools = tools_from(settings.tools)
    readers = _Readers(settings, open_model(settings, tell), tools, request)
    one, other = asyncio.run(readers.read_twice())
    price = price_role(settings)
    usd = None if price is None else round(price.of(readers.client.usage), 6)
    return _report(examine(one, other), readers, usd)


class _Readers:
    """Has a model read a request twice, within the budget."""

    def __init__(
        self, settings: AgentRunSettings, model: LanguageModel, tools: Sequence[Tool], request: str
    ) -> None:
        self._settings = settings
        self._tools = tools
        self._request = request
        self.client = StructuredClient(model, AGENT, settings.timeout, admit=self._keep_to_budget)
        self.model = model.name

    async def read_twice(self) -> tuple[RequestReading, RequestReading]:
        try:
            return await self._read(MANNERS[0], _READINGS[0]), await self._read(MANNERS[1], _READINGS[1])
        finally:
            await self.client.close()

    async def _read(self, manner: Manner, which: str) -> RequestReading:
        form = checked_form(manner, [tool.name for tool in self._tools], self._request)
        text = (files("misstep.features.repair") / "data" / f"repair-{manner}.txt").read_text("utf-8")
        about = [(tool.name, " ".join(tool.description.split())) for tool in self._tools]
        listed = "\n".join(f"- {name}: {cut(said, DESCRIPTION)}" for name, said in about)
        prompt = Template(text).fill(tools=listed, request=fenced(self._request))
        try:
            return await self.client.ask(prompt, form)
        except Unusable as error:
            raise ModelError(
                error.message,
                f"{which} reading, {error.hints[0]}",
                "use another model with --model, or a shorter request",
            ) from None
        except Late as error:
            raise ModelError(error.message, "raise --timeout") from None

    def _keep_to_budget(self, messages: Sequence[Message]) -> None:
        said = sum([len(message.text) for message in messages])
        guess = self.client.usage + Usage(said // CHARACTERS, EXPECTED)
        left = left_of(self._settings, Spent({AGENT: guess}))
        lacking = [FLAGS[kind] for kind, amount in left.items() if amount < 0]
        if lacking:
            used = self.client.usage.input + self.client.usage.output
            hint = f"two readings are needed, each of at least one request: raise {lacking[0]}"
            raise BudgetExceeded(f"the budget does not allow another request: {used:,} tokens are used", hint)


def _report(found: Repair, readers: _Readers, usd: float | None) -> RepairReport:
    tools = [*found.common.needs, *[doubt.need for doubt in found.doubts]]
    ids = {need.tool: f"a{number}" for number, need in enumerate(tools, 1)}
    rules = tuple(_rule_lines(found, ids))
    return RepairReport(
        readers.model,
        found.common.agrees,
        not found.conflicts,
        tuple(_tool_lines(found, ids)),
        rules,
        tuple(dict.fromkeys([*found.readings[0].beyond, *found.readings[1].beyond])),
        tuple([_conflict_line(conflict, rules) for conflict in found.conflicts]),
        found.plan,
        readers.client.requests,
        readers.client.usage,
        usd,
    )


def _tool_lines(found: Repair, ids: Mapping[str, str]) -> Iterator[ToolLine]:
    for need in found.common.needs:
        yield ToolLine(ids[need.tool], need.tool, need.quote, "both")
    for doubt in found.doubts:
        need, who = doubt.need, _READINGS[doubt.reading]
        yield ToolLine(ids[need.tool], need.tool, need.quote, who, doubt.instead)


def _rule_lines(found: Repair, ids: Mapping[str, str]) -> Iterator[RuleLine]:
    names = {tool: tool for tool in ids}
    for rule in found.common.rules:
        words, formula = in_brief(rule.constraint, names), formally(rule.constraint, ids)
        yield RuleLine(words, formula, rule.quote, "both", rule.constraint)
    for dispute in found.disputes:
        rule, who = dispute.rule, _READINGS[dispute.reading]
        words, formula = in_brief(rule.constraint, names), formally(rule.constraint, ids)
        yield RuleLine(words, formula, rule.quote, who, rule.constraint, dispute.effect, dispute.instead)


def _conflict_line(conflict: Conflict, rules: Sequence[RuleLine]) -> ConflictLine:
    who: SaidBy = "both" if conflict.reading is None else _READINGS[conflict.reading]
    guilty = {rule.constraint for rule in conflict.rules}
    listed = [index for index, rule in enumerate(rules) if rule.constraint in guilty]
    return ConflictLine(who, tuple(listed), conflict.confirmed)
