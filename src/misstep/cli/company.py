"""Where nothing can stand beside a curve."""

from misstep.cli.groups import COMPANY
from misstep.cli.options import typed
from misstep.core.settings import Settings
from misstep.errors import UsageError


def refuse_company_in_json(settings: Settings) -> None:
    """One JSON object has room for one curve."""
    if settings.json:
        _refuse("--json", "misstep show RUN --json prints each curve by itself")


def refuse_company_of(what: str) -> None:
    """What is no curve has nothing beside it."""
    _refuse(what, "only a run of plan capability, or a curve in a file, has others beside it")


def _refuse(what: str, hint: str) -> None:
    """What a file of settings says is for other commands."""
    if vain := typed(lambda name: name in COMPANY):
        raise UsageError(f"{' and '.join(vain)} can't go with {what}", hint)
