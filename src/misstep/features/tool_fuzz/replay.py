"""Makes calls of tools again from a fresh start: now, or in tests that are written for pytest."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any, get_args

from misstep.core.results.finding import Finding
from misstep.core.results.fuzzing import FuzzReport
from misstep.core.results.trial import Judged
from misstep.core.settings import Settings, StoreSettings, ToolRunSettings
from misstep.core.settings.reading import check_settings
from misstep.core.tool import Invocation, Sending
from misstep.errors import UsageError, did_you_mean
from misstep.features.tool_fuzz.run import find_finding
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.workbench import run_calls
from misstep.runs.execution import masked
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.trust import refuse_foreign, refuse_other_spec
from misstep.tool_host.sandbox.places import anchored

WIDTH = 100
# Settings that the calls depend on; all others are about the run in which the defects were found.
_FACTS = ("allow_network", "allow_read", "memory", "python", "sandbox", "timeout", "workspace")

# Text from outside is written as a Python literal, so that it can't be code.
_HEAD = '''\
"""Minimised calls that break tools. Written by misstep."""

from pathlib import Path

from misstep import Settings, replay_calls

HERE = Path(__file__).parent
SETTINGS = Settings({settings})
'''
_TEST = """

def test_{name}() -> None:
    calls = {calls}
    judged = replay_calls({spec}, calls, SETTINGS)
    # When this was written: {then}
    told = f"{{judged.ruling}}: {{judged.error}} {{judged.message}}\\n{{judged.why}}"
    assert judged.ruling in {good}, told
"""


def replay_finding(settings: StoreSettings, run: str, name: str) -> tuple[Finding, Judged]:
    """A finding of a run, and the judgement on its last call when all of its calls are made again."""
    stored, finding = find_finding(settings, run, name)
    refuse_foreign(settings, stored)
    refuse_other_spec(settings, stored, finding.spec)
    return finding, _replay(finding.spec, finding.calls, stored.settings)


_ANY_SENDING: tuple[Sending, ...] = get_args(Sending)


def replay_calls(
    spec: str,
    calls: Sequence[tuple[str, Mapping[str, Any]] | tuple[str, Mapping[str, Any], Sending]],
    settings: Settings | None = None,
) -> Judged:
    """Make calls to tools from a fresh start, each a name with its arguments, and judge the last one.

    A third value says how a call is sent, if not in turn: "together" with the next one, "cancelled" at once,
    "timed out" after half of the time limit, "afresh", after another fresh start, or "unlisted", under a name
    that the server does not list.
    """
    if not calls:
        raise UsageError("no calls were given", "expected (tool, arguments), at least once")
    made = [
        Invocation(tool, json.dumps(dict(arguments), allow_nan=False), *_checked(sent))
        for tool, arguments, *sent in calls
    ]
    return _replay(anchored(spec), made, check_settings(settings or Settings(timeout=10.0)))


def _checked(sent: Sequence[Any]) -> Sequence[Sending]:
    for each in sent[:1]:
        if each not in _ANY_SENDING or len(sent) > 1:
            told = ", ".join(repr(one) for one in _ANY_SENDING)
            raise UsageError(f"invalid way to send a call: {each!r}", f"expected one of {told}")
    return sent


def _replay(spec: str, calls: Sequence[Invocation], settings: ToolRunSettings) -> Judged:
    own = settings.overlay({"only": tuple(dict.fromkeys(call.tool for call in calls))})
    with Workbenches(own, beside=True) as benches, benches.lend(spec) as bench:
        tools = {tool.name: tool for tool in bench.tools}
        for call in calls:
            if call.tool not in tools:
                hint = did_you_mean(call.tool, tools)
                raise UsageError(f"there is no tool '{call.tool}' now", hint, where=spec)
        reactions = run_calls(bench, calls, watch=True)
        return masked(judge_sequences_of(list(tools.values()))(calls, reactions))


def regression_tests(report: FuzzReport, settings: Settings, folder: str) -> str:
    """The source of one test for each finding, which passes once its calls cause no defect.

    For a refusal, the calls have to be accepted. The file belongs in `folder`; paths below that are relative.
    """
    given, usual = {name: getattr(settings, name) for name in _FACTS}, Settings()
    facts = {name: value for name, value in given.items() if value != getattr(usual, name)}
    written = ", ".join(f"{name}={_place(value, folder)}" for name, value in facts.items())
    return _HEAD.format(settings=written) + "".join(_test(finding, folder) for finding in report.findings)


def _place(value: object, folder: str) -> str:
    """The value as a Python literal; files below the folder have relative paths."""
    inside = os.path.join(folder, "")
    if isinstance(value, tuple):
        return f"({''.join(f'{_place(each, folder)}, ' for each in value)})"
    if not isinstance(value, str) or not value.startswith(inside):
        return repr(value)
    return f"str(HERE / {value.removeprefix(inside)!r})"


def _test(finding: Finding, folder: str) -> str:
    calls = [
        (call.tool, json.loads(call.arguments), *([] if call.sent == "in turn" else [call.sent]))
        for call in finding.calls
    ]
    written = pformat(calls, width=WIDTH - 4, sort_dicts=False).replace("\n", "\n    ")
    then = re.sub(r"[^\x20-\x7e]", "?", f"{finding.kind}, {finding.error} {finding.where}")
    good = ("fine",) if finding.kind == "refusal" else ("fine", "refused")
    name = re.sub(r"[^0-9A-Za-z]+", "_", f"{finding.tool}_{finding.error}_{finding.id}").strip("_").lower()
    spec = _place(finding.spec, folder)
    return _TEST.format(name=name, calls=written, spec=spec, then=then, good=good)
