"""What statistical tests say, in words."""


def p_value(p: float) -> str:
    """A probability as tables show it."""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"


def p_in_words(p: float) -> str:
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def points(difference: float) -> str:
    """A difference of two rates, in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def interval(ends: tuple[float, float]) -> str:
    """From which rate to which, in percent."""
    low, high = ends
    return f"{100 * low:.1f} – {100 * high:.1f} %"


def listed(words: list[str], most: int) -> str:
    """The first few, and how many there are besides."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")
