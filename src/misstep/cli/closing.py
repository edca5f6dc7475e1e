"""What is written when a run has ended."""

import os
from typing import Any

from misstep.cli.exit_policy import CommandResult
from misstep.cli.exits import INCONCLUSIVE
from misstep.cli.reports import STEP_SUMMARY, add_step_summary, write_reports
from misstep.core.settings import Settings


def close_run(settings: Settings, run: str, ending: CommandResult | None) -> None:
    """Write the reports of a stored run that were asked for; without an ending, there was no gate."""
    asked = any(kind != "ndjson" for kind in settings.report)
    if not asked and not (settings.step_summary and os.environ.get(STEP_SUMMARY)):
        return
    from misstep.api.statements.stating import state

    held = ending.held if ending else None
    passed = None if ending is None or ending.code == INCONCLUSIVE else not ending.code
    statement = state(settings, run, held, passed)
    write_reports(settings, statement, lambda: summed(settings, run, ending or CommandResult(0)))
    add_step_summary(settings, statement)


def summed(settings: Settings, run: str, ending: CommandResult) -> dict[str, Any]:
    """The object that `--json` prints for a stored run; what makes it is loaded when it is wanted."""
    from misstep.api.statements.as_json import run_as_json

    return ending.added_to(run_as_json(settings, run))
