"""Writes defects of tools as pytest tests."""

import json
import keyword
import os
import re
from pprint import pformat

from misstep.core.results.finding import Finding, FuzzReport
from misstep.core.settings import Settings

WIDTH = 100
# Settings that the calls depend on; all others are about the run in which the defects were found.
_FACTS = ("allow_network", "allow_read", "memory", "python", "sandbox", "timeout", "workspace")

# Text from outside is written as a Python literal, so that it can't be code.
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
    calls = [(call.tool, json.loads(call.arguments)) for call in finding.calls]
    written = pformat(calls, width=WIDTH - 4, sort_dicts=False).replace("\n", "\n    ")
    then = re.sub(r"[^\x20-\x7e]", "?", f"{finding.kind}, {finding.error} {finding.where}")
    good = _TAKEN if finding.kind == "refusal" else _HARMLESS
    spec = _place(finding.spec, folder)
    return _TEST.format(name=_name(finding), calls=written, spec=spec, then=then, good=good)


def _name(finding: Finding) -> str:
    words = re.sub(r"[^0-9A-Za-z]+", "_", f"{finding.tool}_{finding.error}_{finding.id}").strip("_").lower()
    return words if not keyword.iskeyword(words) else f"{words}_"
