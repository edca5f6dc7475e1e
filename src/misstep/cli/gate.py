"""The exit code by which a command says whether its gate was passed."""

from misstep.core.settings import Settings, parse_gate


def exit_code(settings: Settings, passed: int, total: int) -> int:
    """0 if enough of all have passed, by `--fail-on`; without a gate, any number is enough.

    Of nothing at all, nothing has failed, but a rate that is demanded is not known to be reached.
    """
    demanded = parse_gate(settings.fail_on)
    if demanded and not total:
        return int(settings.fail_on != "any")
    return int(demanded is not None and passed < demanded * total)
