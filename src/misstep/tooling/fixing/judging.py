"""What a trial under other words is worth."""

from misstep.core.consistency import Expectation
from misstep.core.fixing import Attempt, Trying
from misstep.core.model import Unusable
from misstep.core.template import fenced
from misstep.core.trial import Trial
from misstep.core.verdict import Judgement
from misstep.core.words import cut
from misstep.tooling.asking.consistency.buckets import calls_of
from misstep.tooling.asking.consistency.forms import CORRECTNESS
from misstep.tooling.asking.consistency.oracle import judge_answer
from misstep.tooling.asking.documentation import MOST_SHOWN
from misstep.tooling.asking.parties import Models
from misstep.tooling.asking.trouble import told, trouble_with
from misstep.tooling.fixing.evidence import is_bad

SHOWN = 300  # characters of a reason
VERDICTS: dict[str, Judgement] = {
    "right": "passed",
    "wrong": "failed",
    "contradiction": "inconclusive",
    "guess": "inconclusive",
}


async def judge_trial(candidate: int, trying: Trying, trial: Trial, tool: str, models: Models) -> Attempt:
    """What came of a request: it passes if the agent ended without an error or a refusal of the tool.

    Where an answer counts, a judge has to find it right beside that.
    """
    verdict, why = _verdict(trial, tool)
    if verdict == "passed" and trying.matter == "answer":
        try:
            verdict, why = await _judged(trying, trial, tool, models)
        except Unusable as error:
            verdict, why = "inconclusive", told(error)
    return Attempt(
        candidate,
        trying.id,
        verdict,
        cut(why, SHOWN),
        # An answer that is right has been come by somehow.
        bool(calls_of(trial, tool)) or trying.matter == "answer",
        len(trial.uses),
        trial.usage.input + trial.usage.output,
    )


def _verdict(trial: Trial, tool: str) -> tuple[Judgement, str]:
    if trial.error:
        return "errored", trial.error
    if use := is_bad(trial, tool):
        return "failed", f"{use.judged.ruling}: {use.judged.message or use.judged.why or use.result}"
    if trial.ended != "answered":
        return "failed", f"the agent did not come to an end: {trial.ended}"
    trouble = trouble_with(trial)
    return ("inconclusive", trouble) if trouble else ("passed", "")


async def _judged(trying: Trying, trial: Trial, tool: str, models: Models) -> tuple[Judgement, str]:
    if trying.expected:
        score = await judge_answer(1, trial, tool, Expectation((), trying.expected), models)
        return VERDICTS[score.says], score.reason
    answer = fenced(cut(trial.answer, MOST_SHOWN))
    found = await models.ask("judge", "correct", CORRECTNESS, request=fenced(trial.request), answer=answer)
    return ("passed" if found.correct else "failed"), found.reason
