"""What the embedded models are called."""

from misstep.errors import UsageError, did_you_mean

PROVIDER = "local"
PLANNER = "smollm2-135m-planner"  # with our adapter
BASE = "smollm2-135m"  # as it was published
SHORT = {PROVIDER: PLANNER, "local-base": BASE}


def find_embedded(text: str) -> str:
    """The embedded model that is meant by a short name, or by a name after `local/`."""
    found = SHORT.get(text or PROVIDER, text)
    if found not in SHORT.values():
        known = [f"{short} is {PROVIDER}/{name}" for short, name in SHORT.items()]
        hints = (", ".join(known), did_you_mean(text, SHORT.values()))
        raise UsageError(f"there is no embedded model '{text}'", *hints)
    return found
