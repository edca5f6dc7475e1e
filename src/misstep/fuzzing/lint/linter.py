"""Applies all lint rules, and has those whose evidence is refused or accepted calls."""

import json
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from misstep.core.text import cut
from misstep.fuzzing.judging.endings import runs_what_it_is_given
from misstep.fuzzing.lint import wording
from misstep.fuzzing.lint.answers import CallAnswer, answers_of, want_of
from misstep.fuzzing.lint.code import taken_values, wrong_choices
from misstep.fuzzing.lint.subject import LintedTool, LintSubject, Remark


def needless_demands(subject: LintSubject) -> Iterator[Remark]:
    """Constraints of the schema that the tool does not enforce, shown by invalid calls that it accepted."""
    for finding in subject.findings:
        if finding.kind == "acceptance" and len(finding.calls) == 1:
            keyword, _, place = finding.message.partition(" at ")
            where = f"parameters.{place}" if place else "parameters"
            message = f"the schema requires {keyword}, but the tool does not"
            advice = "relax the schema, or make the tool refuse it"
            evidence = f"{finding.calls[0].arguments} was accepted"
            yield Remark("acceptance", "over", where, message, evidence, advice)


ENOUGH = 0.5  # share of a message's words that the documentation must contain
STEM = 5  # letters that two words must share to count as the same

# Messages about the current state of the world, which documentation cannot know.
_WORLD = (
    r"\bnot found\b|\bno such\b|\bnot exist|n't exist|\balready\b|\bunknown\b|\bno match",
    r"\bdenied\b|\bpermi(?:ssion|tted)|\boutside\b|\bescapes?\b|\bauthori[sz]|\bcredential|\bapi key\b",
    r"\btime[ds]? ?out\b|\bconnect|\bnetwork\b|\bErrno\b|\bE[A-Z]{4,}\b",
    r"\bleft\b|\bremaining\b|\bin stock\b|\b(?:not |un|n't )available\b",
    r"\bunable to\b|\bfailed\b|\bcould(?: not|n't)\b",
    r"\bnot (?:a )?(?:file|directory|folder|repository)\b|\bis a directory\b",
)
# Messages about what the arguments should have been.
_DEMAND = (
    r"\bmust\b|\bshould\b|\bneeds?\b|\bha(?:s|ve) to\b|\brequire[sd]?\b|\bexpect(?:s|ed)?\b|\bonly\b",
    r"\binvalid\b|\bnot (?:an? )?valid\b|\bmalformed\b|\bunsupported\b|\bnot supported\b|\bone of\b",
    r"\bca(?:n't|nnot|n not)\b|\bmay not\b|\bat (?:least|most)\b|\bno more than\b|\bout of range\b",
    r"\b(?:less|greater|fewer|more|longer|shorter) than\b|\bexceed|\btoo \w+\b",
)
# Words that any refusal may contain.
_GENERIC = (
    r"an?|and|any|are|arguments?|as|at|bad|be|been|both|by|can|can't|cannot|errors?|exactly|expected|field|for|from",
    r"given|got|has|have|if|in|inputs?|instead|invalid|is|its?|may|must|needs?|not|of|on|one|only|or|parameters?",
    r"please|provided?|requires?|required|should|so|string|supplied|text|than|that|the|there|this|to|too|tool|type",
    r"using|valid|validation|values?|was|were|when|which|with|your?|executing|found",
)
_LIMITS = (r"positive|negative|non-?zero|greater|smaller|at least|at most|minimum|maximum|[<>≤≥]|\bup to\b",)
_OF_LIMITS = re.compile("positive|negative|zero|greater|less|fewer|more|least|most|larger|smaller")
_LAYOUT = (r"format|e\.g\.|example|such as|YYYY|ISO|['\"`“]",)

_QUOTED = re.compile(r"""(?<!\w)(['"`])(.{1,80}?)\1(?!\w)""")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
_WORD = re.compile(r"[^\W\d_]{2,}(?:'t)?")


def is_told(subject: LintSubject, answer: CallAnswer) -> bool:
    """Whether the documentation contains the message's literals, or else enough of its words."""
    said, literals = subject.said, _literals(subject, answer)
    if literals:
        return all(each.strip().casefold() in said.casefold() for each in literals)
    words = _own_words(subject, answer)
    if any(map(_OF_LIMITS.match, words)):
        return _has(_LIMITS, said)
    if not words:
        return _has(_LAYOUT, said)
    known = {word[:STEM] for word in _words(said)}
    return sum(word[:STEM] in known for word in words) >= ENOUGH * len(words)


def _literals(subject: LintSubject, answer: CallAnswer) -> list[str]:
    """Quotations and numbers in the message that are neither arguments nor names."""
    quoted = [text for _, text in _QUOTED.findall(answer.message)]
    given = {float(each) for each in _NUMBER.findall(answer.arguments)}
    numbers = [each for each in _NUMBER.findall(answer.message) if float(each) not in given]
    names = {subject.name, *(part.name for part in subject.parts)}
    return [*(each for each in quoted if each not in answer.arguments and each not in names), *numbers]


def _own_words(subject: LintSubject, answer: CallAnswer) -> list[str]:
    """The words of a message that are specific to it."""
    names = [subject.name, *(part.name for part in subject.parts)]
    known = {*_words(" ".join(names).replace("_", " ")), *_words(answer.arguments)}
    generic = re.compile("|".join(_GENERIC))
    return [word for word in _words(answer.message) if word not in known and not generic.fullmatch(word)]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text[:40_000])]


def _has(patterns: tuple[str, ...], text: str) -> bool:
    return re.search("|".join(patterns), text, re.IGNORECASE) is not None


REASON = 160  # characters of the tool's message

_UNWELCOME = re.compile(
    r"(?i)\b(?:unknown|unsupported|not supported|invalid|not (?:an? )?valid|unrecogni[sz]ed|one of)\b"
)


def hidden_constraints(subject: LintSubject) -> Iterator[Remark]:
    """Undocumented constraints, each once, with arguments that fit the schema but were refused."""
    if runs_what_it_is_given(subject.described):
        return  # its messages are about the program it was given
    told = dict[tuple[str, str], Remark]()
    taken = taken_values(subject)
    for answer in answers_of(subject):
        if any(answer.values.get(name, only[0]) not in only for name, only in taken.items()):
            continue  # `wrong_choices` reports these
        remark = _refused_choice(subject, answer) or (
            _of_crash(subject, answer) if answer.crashed else _of_refusal(subject, answer)
        )
        if remark is not None:
            told.setdefault((remark.where, remark.message), remark)
    yield from told.values()


def _refused_choice(subject: LintSubject, answer: CallAnswer) -> Remark | None:
    """A value that the schema lists and the tool refuses by name."""
    for part in subject.top:
        value = answer.values.get(part.name)
        if value not in part.choices or not isinstance(value, str) or not value:
            continue
        looked_up = answer.error == "KeyError" and answer.message == repr(value)
        if looked_up or (_UNWELCOME.search(answer.message) and _quotes(answer.message, value)):
            message = f"the schema lists {json.dumps(value)}, which the tool refuses"
            return Remark("choices", "ill", part.where, message, answer.evidence, "remove it from the schema")
    return None


def _of_crash(subject: LintSubject, answer: CallAnswer) -> Remark | None:
    want = want_of(answer)
    if want is None or re.search(want.told, subject.said, re.IGNORECASE):
        return None
    wanted = [part for part in subject.top if part.name in want.names]
    where = wanted[0].where if len(wanted) == 1 else "parameters"
    which = "" if len(wanted) == 1 else "one of them "
    return _remark(where, f"{which}{want.words}, which is not documented", answer)


def _of_refusal(subject: LintSubject, answer: CallAnswer) -> Remark | None:
    # It has to say what the arguments should be, and not what state the world is in.
    is_demand = _has(_DEMAND, answer.message) and not _has(_WORLD, answer.message)
    if not is_demand or is_told(subject, answer):
        return None
    named = [part for part in subject.top if _quotes(answer.message, part.name)]
    reason = cut(answer.message, REASON)  # tells two constraints of one parameter apart
    if len(named) > 1:
        names = ", ".join(part.name for part in named[:-1]) + f" and {named[-1].name}"
        message = f"{names} depend on each other, which is not documented: {reason}"
        return _remark("parameters", message, answer)
    candidates = named or [part for part in subject.top if part.name in answer.values] or subject.top
    where = candidates[0].where if len(candidates) == 1 else "parameters"
    return _remark(where, f"has an undocumented constraint: {reason}", answer)


def _quotes(message: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message) is not None


def _remark(where: str, message: str, answer: CallAnswer) -> Remark:
    advice = "state it in the description, and in the schema where possible"
    return Remark("constraint", "under", where, message, answer.evidence, advice)


LONGEST = 500  # characters of a message or of evidence

_RULES: tuple[Callable[[LintSubject], Iterator[Remark]], ...] = (
    wording.refused_names,
    wording.missing_description,
    wording.long_description,
    wording.undescribed_parameters,
    wording.phantom_parameters,
    wrong_choices,
    wording.wrong_defaults,
    wording.wrong_examples,
    wording.broken_promises,
    hidden_constraints,
    needless_demands,
)


def lint(subjects: Sequence[LintSubject]) -> list[LintedTool]:
    """The remarks on each tool, in the order of the rules and without duplicates, at a readable length."""
    linted = list[LintedTool]()
    for place, subject in enumerate(subjects):
        others = [*subjects[:place], *subjects[place + 1 :]]
        found = [*wording.twins_of(subject, others), *(remark for rule in _RULES for remark in rule(subject))]
        distinct = {(remark.where, remark.message): remark for remark in reversed(found)}
        remarks = tuple(
            structs.replace(each, message=cut(each.message, LONGEST), evidence=cut(each.evidence, LONGEST))
            for each in reversed(distinct.values())
        )
        source = subject.described.source
        file, line = (source.file, source.line) if source else ("", 1)
        linted.append(LintedTool(subject.name, remarks, file, line))
    return linted
