"""Makes training examples from a stored run.

`sft` gives correct conversations, of failures and, if requested, of passed cases. `dpo` pairs the correct
calls with the agent's own, so it uses failures only. `Exported` says what is left out and counted.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Literal

from misstep.adapters.builtin.prompts import load_template
from misstep.core.outcome import ERROR_KINDS, Outcome
from misstep.core.results.report import Exported, LeftOut, Training
from misstep.core.settings import PORTIONS, AgentSettings, Portion, RunSettings
from misstep.planning.training import Example, demonstrate, is_foreseeable, prefer, shows_fault, solve
from misstep.runs.lookup import find_planned
from misstep.runs.trust import refuse_foreign_prompt
from misstep.store.runs import Run, Store

_SAME_WORDS = ("tools", "responses", "assistant")  # agents with the same instructions as `tools`


def instructions_of(settings: AgentSettings) -> str:
    """The instructions of the `tools` agent before a request, or the user's own."""
    own = settings.prompt if settings.agent in _SAME_WORDS else ""
    return load_template("tools", own, ()).fill()


def sorted_part(part: Collection[Portion]) -> tuple[Portion, ...]:
    """The parts that cases were drawn from, in a fixed order."""
    return tuple([portion for portion in PORTIONS if portion in part])


OTHERWISE = "--format csv or parquet writes it as a table"


class Export:
    """Makes the examples of a run one at a time, without keeping them, and counts."""

    def __init__(
        self,
        settings: RunSettings,
        run: str,
        form: Training,
        passed_too: bool = False,
        one_shot: bool = False,
    ) -> None:
        self._settings = settings
        self._name = run
        self._form = form
        self._one_shot = one_shot
        self._verdicts: tuple[Literal["failed", "passed"], ...] = (
            ("failed", "passed") if passed_too else ("failed",)
        )
        self._kinds = Counter[str]()
        self._left_out = Counter[LeftOut]()

    def examples(self) -> Iterator[Example]:
        with Store(self._settings.store) as store:
            run = find_planned(store, self._name, OTHERWISE)
            self._name = run.id
            refuse_foreign_prompt(self._settings, run)
            verdicts = store.tally(run.id).verdicts
            self._left_out["errored"] = verdicts["errored"]
            self._left_out["inconclusive"] = verdicts["inconclusive"]
            instructions = instructions_of(run.settings)
            for verdict in self._verdicts:
                for outcome in store.outcomes(run.id, verdict):
                    example = self._example(outcome, run, instructions)
                    if example is not None:
                        self._kinds[outcome.verdict.error or "passed"] += 1
                        yield example

    def summary(self) -> Exported:
        return Exported(
            self._name,
            self._form,
            self._settings.out,
            self._kinds.total(),
            {kind: self._kinds[kind] for kind in (*ERROR_KINDS, "passed") if self._kinds[kind]},
            {reason: count for reason, count in self._left_out.items() if count},
        )

    def _example(self, outcome: Outcome, run: Run, instructions: str) -> Example | None:
        if self._one_shot and not is_foreseeable(outcome.case):
            self._left_out["stepwise"] += 1
            return None
        parallel = "ordered" if self._one_shot else run.settings.parallel
        if self._form == "dpo" and not shows_fault(outcome, parallel):
            self._left_out["faultless"] += 1
            return None
        calls = solve(outcome)
        if calls is None:
            self._left_out["unsolved"] += 1
            return None
        make = demonstrate if self._form == "sft" else prefer
        part = () if run.settings.cases else sorted_part(run.settings.part)
        return make(outcome, calls, instructions, part, self._one_shot)
