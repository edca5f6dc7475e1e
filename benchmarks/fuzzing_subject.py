"""The least that a tool can do, to see what a call of it costs."""


def nothing(text: str) -> str:
    """Do nothing."""
    return "done" if text else "nothing"
