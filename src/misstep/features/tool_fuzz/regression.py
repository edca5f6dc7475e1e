"""Defects of tools as tests of the user's own, to be run with pytest from then on."""

import json
import keyword
import os
import re
from pprint import pformat

from misstep.core.results.finding import Finding, FuzzReport
from misstep.core.settings import Settings

WIDTH = 100
# What the calls depend on; everything else is about the run in which the defects were found.
_FACTS = ("allow_network", "allow_read", "memory", "python", "sandbox", "timeout", "workspace")

# Whatever comes from outside is a literal, written by Python itself: no text can be more than a text.
_HEAD = '''\
"""Calls that broke tools, as small as they get. Written by misstep."""

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
_HARMLESS = ("fine", "refused")
_TAKEN = ("fine",)


def regression_tests(report: FuzzReport, settings: Settings, folder: str) -> str:
    """The source of one test for each finding, which passes once its calls do no harm any more.

    Those of a refusal have to be taken.
    It is to stand in the folder; files below that are named by their way from there.
    """
    given, usual = {name: getattr(settings, name) for name in _FACTS}, Settings()
    facts = {name: value for name, value in given.items() if value != getattr(usual, name)}
    written = ", ".join(f"{name}={_place(value, folder)}" for name, value in facts.items())
    return _HEAD.format(settings=written) + "".join(_test(finding, folder) for finding in report.findings)


def _place(value: object, folder: str) -> str:
    """The value as Python writes it; what is in a file below the folder, by its way from there."""
    inside = os.path.join(folder, "")
    if isinstance(value, tuple):
        return f"({''.join(f'{_place(each, folder)}, ' for each in value)})"
    if not isinstance(value, str) or not value.startswith(inside):
        return repr(value)
    return f"str(HERE / {value.removeprefix(inside)!r})"


def _test(finding: Finding, folder: str) -> str:
    calls = [(call.tool, json.loads(call.arguments)) for call in finding.calls]
    written = pformat(calls, width=WIDTH - 4, sort_dicts=False).replace("\n", "\n    ")
    then = re.sub(r"[^\x20-\x7e]", "?", f"{finding.kind}, {finding.error} {finding.where}")
    good = _TAKEN if finding.kind == "refusal" else _HARMLESS
    spec = _place(finding.spec, folder)
    return _TEST.format(name=_name(finding), calls=written, spec=spec, then=then, good=good)


def _name(finding: Finding) -> str:
    words = re.sub(r"[^0-9A-Za-z]+", "_", f"{finding.tool}_{finding.error}_{finding.id}").strip("_").lower()
    return words if not keyword.iskeyword(words) else f"{words}_"
