"""What the kinds of flaws mean, for readers who meet them outside of misstep."""

from typing import Literal

import msgspec

Level = Literal["error", "warning", "note"]


class Rule(msgspec.Struct, frozen=True):
    """A kind of flaw: a short name, what it is, what to do about it."""

    name: str
    about: str
    help: str
    level: Level = "error"


_REPLAY = "Run the case again with the command in the finding; `misstep plan shrink` makes it smaller, and "
_PLAN = _REPLAY + "`misstep plan dissect` finds out why the agent fails."
_TOOL = "Call the tool as the finding does, or run the command in it, and mend the tool or its documentation."
_WORDS = "Change the documentation or the tool, so that an agent that believes it is right."

RULES: dict[str, Rule] = {
    "plan/timeout": Rule("OutOfTime", "The agent was out of time or turns.", _PLAN),
    "plan/act": Rule("BadCall", "The agent made a call that does not exist, does not fit or repeats.", _PLAN),
    "plan/lost": Rule("LostAction", "The agent never did something that it was asked for.", _PLAN),
    "plan/parameter": Rule("BadValue", "The agent handed on a wrong value or time.", _PLAN),
    "plan/order": Rule("BadOrder", "The agent broke a constraint that the request states.", _PLAN),
    "plan/failed": Rule("Failed", "The agent did not do what it was asked.", _PLAN),
    "cause/probability": Rule("ByChance", "The agent fails now and then, whatever the request.", _PLAN),
    "cause/terminal": Rule("Misreading", "The agent misreads a word or phrase.", _PLAN),
    "cause/topic": Rule("Topic", "The agent fails on a topic.", _PLAN),
    "cause/name": Rule("ActivityName", "The agent fails on the name of an activity or tool.", _PLAN),
    "cause/structure": Rule("SentenceForm", "The agent fails on a form of sentence.", _PLAN),
    "cause/position": Rule("Position", "The agent fails by where a sentence or tool stands.", _PLAN),
    "cause/constraint": Rule("ConstraintShape", "The agent fails on constraints of some shape.", _PLAN),
    "cause/size": Rule(
        "Size", "The agent fails from a number of actions, sentences or characters on.", _PLAN
    ),
    "cause/undetermined": Rule("UnknownCause", "Why the agent fails is not known.", _PLAN, "warning"),
    "tool/crash": Rule("Crash", "An exception left the tool, or its process died.", _TOOL),
    "tool/hang": Rule("Hang", "The tool did not come back in time.", _TOOL),
    "tool/blow-up": Rule("BlowUp", "The tool used far more than its input explains.", _TOOL),
    "tool/schema": Rule(
        "BrokenPromise", "A result or refusal is not what the schema promises.", _TOOL, "warning"
    ),
    "tool/protocol": Rule("Protocol", "The tool's server broke its protocol.", _TOOL),
    "tool/acceptance": Rule("Acceptance", "Forbidden arguments were taken without a word.", _TOOL, "warning"),
    "tool/suspicious-refusal": Rule(
        "SuspiciousRefusal",
        "Valid arguments were refused with words about the tool's insides, or with none.",
        _TOOL,
        "warning",
    ),
    "tool/refusal": Rule(
        "Refusal", "Arguments that the documentation allows were refused.", _TOOL, "warning"
    ),
    "tool/consistency": Rule("Inconsistent", "People who mean the same are served differently.", _WORDS),
    "tool/crosstalk": Rule(
        "Crosstalk", "The tool is called for what is none of its business.", _WORDS, "warning"
    ),
    "tool/fix": Rule("NoBetterWords", "No better description of the tool was found.", _WORDS, "note"),
    "lint/acceptance": Rule("NeedlessDemand", "More is demanded than the tool needs.", _WORDS, "warning"),
    "lint/choices": Rule("Choices", "The choices in schema, words and code differ.", _WORDS, "warning"),
    "lint/constraint": Rule("HiddenConstraint", "The tool demands what nobody is told.", _WORDS, "warning"),
    "lint/default": Rule("Default", "The default is another than is said.", _WORDS, "warning"),
    "lint/description": Rule("NoDescription", "Nothing, or too little, is said.", _WORDS, "warning"),
    "lint/example": Rule("Example", "An example would not be taken.", _WORDS, "warning"),
    "lint/length": Rule("Length", "More is said than a model will read.", _WORDS, "note"),
    "lint/name": Rule("Name", "A name that models refuse.", _WORDS, "warning"),
    "lint/parameter": Rule("Parameter", "A parameter that nothing is said about.", _WORDS, "warning"),
    "lint/phantom": Rule("Phantom", "A parameter is described that does not exist.", _WORDS, "warning"),
    "lint/promise": Rule("Promise", "The tool does what it promises not to do.", _WORDS, "warning"),
    "lint/twins": Rule("Twins", "Two tools that nobody can tell apart.", _WORDS, "warning"),
    "bench/task": Rule(
        "Task", "A task of a benchmark was not done right.", "Run it again with `misstep replay`."
    ),
}


def rules_of(families: tuple[str, ...]) -> dict[str, Rule]:
    """Those whose names begin with one of these words, in their order."""
    return {name: rule for name, rule in RULES.items() if name.partition("/")[0] in families}
