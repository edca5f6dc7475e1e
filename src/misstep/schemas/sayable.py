"""Which values can be said in a request."""

LONGEST_TEXT = 400  # characters
UNSPEAKABLE = frozenset("`'\"“”„‘’«»")


def is_sayable(value: object) -> bool:
    """Whether every text in it can stand between quotation marks on one line, and is not blank."""
    if isinstance(value, str):
        speakable = value.isprintable() and not UNSPEAKABLE & set(value)
        return speakable and 0 < len(value.strip()) <= LONGEST_TEXT
    if isinstance(value, dict):
        return all(_is_sayable_name(name) and is_sayable(each) for name, each in value.items())
    return not isinstance(value, list) or all(is_sayable(each) for each in value)


def _is_sayable_name(name: str) -> bool:
    return name.isprintable() and "`" not in name and bool(name.strip())
