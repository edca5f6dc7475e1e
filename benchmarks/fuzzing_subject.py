"""A tool that does nothing, to measure the cost of a call."""


def nothing(text: str) -> str:
    """Do nothing."""
    return "done" if text else "nothing"
