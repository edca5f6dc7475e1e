"""Collects requests of an earlier run to choose and judge tool descriptions with, and judges trials."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import msgspec

from misstep.core.model import Unusable
from misstep.core.outcome import Judgement
from misstep.core.results.consistency import ConsistencyReport, Expectation, PromptSet
from misstep.core.results.finding import RUNTIME_ERRORS, Finding
from misstep.core.results.fixing import FixAttempt, Matter, Part, Trying
from misstep.core.results.fuzzing import ReachAttempt, ToolReport
from misstep.core.results.trial import REFUSALS, Trial, Use
from misstep.core.rng import Dice, derive_seed
from misstep.core.text import cut
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.parties import Models, told, trouble_with
from misstep.fuzzing.consistency.buckets import calls_of
from misstep.fuzzing.consistency.inquiry import judge_answer, judge_correctness

ID = 8  # hexadecimal digits of an id
SHOWN = 1_000  # characters of each text in an example


class EarlierRequest(msgspec.Struct, frozen=True):
    """A request of an earlier run. Requests in one `group` mean the same; a `bad` one failed.

    `told` describes for a model what happened; it is empty if the request was not `tried`.
    """

    group: str
    request: str
    tools: tuple[str, ...]
    matter: Matter
    bad: bool
    told: str
    expected: str = ""
    tried: bool = True

    @property
    def id(self) -> str:
        return sha256(self.request.encode("utf-8", "replace")).hexdigest()[:ID]


class FixEvidence(msgspec.Struct, frozen=True):
    """Requests for a tool, and descriptions of defects for which no request was tried."""

    asked: tuple[EarlierRequest, ...] = ()
    defects: tuple[str, ...] = ()


def evidence_of_fuzzing(reports: Sequence[ToolReport], name: str, tool: str) -> FixEvidence:
    """What fuzzing found in a tool, from reports on it alone or together with others."""
    asked, put = list[EarlierRequest](), set[str]()
    for report in reports:
        known = {each.id: each for each in report.findings}
        for passage in report.journey.passages if report.journey else ():
            finding = known.get(passage.finding)
            if report.name == name or (finding is not None and finding.tool in (name, tool)):
                put |= {passage.finding} if passage.requests else set()
                asked += _asked(passage, finding, tool)
    if len({each.group for each in asked if each.bad}) < 2:  # requests are grouped by several defects only
        asked = [msgspec.structs.replace(each, group=each.request) for each in asked]
    findings = [each for report in reports for each in report.findings if each.tool in (name, tool)]
    defects = list[str]()
    for each in findings:
        if each.id not in put and not each.request:
            calls = "; ".join(f"{call.tool}({cut(call.arguments, SHOWN)})" for call in each.calls)
            defects.append(f"Call: {calls}\nResult: {cut(f'{each.error}: {each.message}', SHOWN)}")
    return FixEvidence(_each_once(asked), tuple(dict.fromkeys(defects)))


def evidence_of_sets(report: ConsistencyReport) -> FixEvidence:
    """The paraphrased requests for a tool and their results, without sets that could not be judged."""
    tool = report.name.partition(" of ")[0]
    judged = [one for one in report.sets if one.verdict in ("passed", "failed")]
    return FixEvidence(_each_once([each for one in judged for each in _asked_in(one, tool)]))


def is_bad(trial: Trial, tool: str) -> Use | None:
    """The tool's call that went wrong: a run-time error, or a final refusal."""
    uses = calls_of(trial, tool)
    broken = [use for use in uses if use.judged.ruling in RUNTIME_ERRORS]
    stuck = [use for use in uses[-1:] if use.judged.ruling in REFUSALS]
    return next(iter((*broken, *stuck)), None)


def _asked(passage: ReachAttempt, finding: Finding | None, tool: str) -> Iterator[EarlierRequest]:
    calls = finding.calls if finding else ()
    tools = tuple(dict.fromkeys((*[call.tool for call in calls], tool)))
    trials = {trial.request: trial for trial in passage.trials}
    for request in passage.requests:
        trial = trials.get(request)
        bad = passage.fate == "reached" and trial is not None and is_bad(trial, tool) is not None
        told = _told(request, trial, tool) if trial else ""
        # Requests for one defect stay in one part: one of them gives away what the others are about.
        group = passage.finding or request
        yield EarlierRequest(group, request, tools, "call", bad, told, tried=trial is not None)


def _asked_in(one: PromptSet, tool: str) -> Iterator[EarlierRequest]:
    """The requests of a set. Without an expectation, the answer of a set that passed is the expected one."""
    answers = [trial.answer for trial in one.trials if trial.is_usable]
    usual = answers[0] if answers and one.verdict == "passed" and len(one.requests) > 1 else ""
    expected = one.expectation.statement if one.expectation else usual
    trials = {trial.request: trial for trial in one.trials}
    for number, request in enumerate(one.requests, 1):
        score = next((each for each in one.scores if each.request == number), None)
        bad = one.verdict == "failed"
        told = _told(request, trials.get(request), tool)
        if bad and score is not None:
            told += f"\nA judge found the answer {score.says}: {cut(score.reason, SHOWN)}"
        yield EarlierRequest(one.id, request, (tool,), "answer", bad, told, cut(expected, SHOWN * 4))


def _told(request: str, trial: Trial | None, tool: str) -> str:
    lines = [f"Request: {cut(request, SHOWN)}"]
    for use in calls_of(trial, tool) if trial else ():
        lines += [f"Call: {use.tool}({cut(use.arguments, SHOWN)})", f"Result: {cut(use.result, SHOWN)}"]
    if trial is not None:
        lines.append(f"Answer: {cut(trial.answer, SHOWN)}")
    return "\n".join(lines)


def _each_once(asked: Sequence[EarlierRequest]) -> tuple[EarlierRequest, ...]:
    """Remove duplicate requests; bad ones win."""
    found = dict[str, EarlierRequest]()
    for each in sorted(asked, key=lambda each: not each.bad):
        found.setdefault(each.request, each)
    return tuple(found.values())


SHOWN_REASON = 300  # characters of a reason
VERDICTS: dict[str, Judgement] = {"right": "passed", "wrong": "failed"}  # others are inconclusive


async def judge_trial(candidate: int, trying: Trying, trial: Trial, tool: str, models: Models) -> FixAttempt:
    """Judge a trial: did the agent finish without an error or final refusal, and rightly if that matters?"""
    verdict, why = _verdict(trial, tool)
    if verdict == "passed" and trying.matter == "answer":
        try:
            if trying.expected:
                score = await judge_answer(1, trial, tool, Expectation((), trying.expected), models)
                verdict, why = VERDICTS.get(score.says, "inconclusive"), score.reason
            else:
                verdict, why = await judge_correctness(trial, models)
        except Unusable as error:
            verdict, why = "inconclusive", told(error)
    # A right answer may have been found without calling the tool.
    met = bool(calls_of(trial, tool)) or trying.matter == "answer"
    tokens = trial.usage.input + trial.usage.output
    return FixAttempt(candidate, trying.id, verdict, cut(why, SHOWN_REASON), met, len(trial.uses), tokens)


def _verdict(trial: Trial, tool: str) -> tuple[Judgement, str]:
    if trial.error:
        return "errored", trial.error
    if use := is_bad(trial, tool):
        return "failed", f"{use.judged.ruling}: {use.judged.message or use.judged.why or use.result}"
    if trial.ended != "answered":
        return "failed", f"the agent did not finish: {trial.ended}"
    trouble = trouble_with(trial)
    return ("inconclusive", trouble) if trouble else ("passed", "")


LEAST = 2  # groups that failed or are untried: one to choose by, one to judge by


def split(evidence: FixEvidence, seed: int, most: int | None) -> tuple[tuple[Trying, ...], tuple[str, ...]]:
    """Split the requests into a validation and a test part, and describe what went wrong in the first.

    Requests that mean the same stay together, and failed and untried ones are divided evenly. Nothing about
    the test part is revealed. `most` limits the size of each part.
    """
    groups = dict[str, list[EarlierRequest]]()
    for each in evidence.asked:
        groups.setdefault(each.group, []).append(each)
    bad = [name for name, asked in groups.items() if any(each.bad for each in asked)]
    untried = [name for name in groups if name not in bad and not all(each.tried for each in groups[name])]
    good = [name for name in groups if name not in bad and name not in untried]
    if not bad:
        raise UsageError("none of its requests failed", "that run has nothing to fix")
    if len(bad) + len(untried) < LEAST:
        message = "only one request, or set of requests, failed, and all others were tried"
        hint = "two are needed, one to choose a description and one to judge it: a longer run finds more"
        raise UsageError(message, hint, "or score on a benchmark: --bench files")
    dice = Dice(derive_seed(seed, "fix"))
    ordered = [name for names in (bad, untried, good) for name in dice.shuffled(sorted(names))]
    parts: dict[Part, list[str]] = {"validation": ordered[::2], "test": ordered[1::2]}
    trying = [
        Trying(each.id, each.request, part, each.matter, each.tools, each.expected)
        for part, names in parts.items()
        for each in [each for name in names for each in groups[name]][:most]
    ]
    shown = {each.id for each in trying if each.part == "validation"}
    told = [each.told for each in evidence.asked if each.bad and each.id in shown]
    return tuple(trying), (*told, *evidence.defects)


def limited(trying: Sequence[Trying], seed: int, most: int | None) -> tuple[Trying, ...]:
    parts = [[each for each in trying if each.part == part] for part in ("validation", "test")]
    dice = Dice(derive_seed(seed, "fix"))
    return tuple(each for part in parts for each in dice.sample(part, min(most or len(part), len(part))))
