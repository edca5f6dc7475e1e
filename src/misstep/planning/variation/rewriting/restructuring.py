"""Rewrites sentences without some forms."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from misstep.planning.language.clarity import rejoined
from misstep.planning.language.syntax import (
    NEIGHBOUR_FORMS,
    Clause,
    Duty,
    Free,
    Group,
    Neighbours,
    Sentence,
    SubSentence,
    Timed,
    TimedRelative,
)
from misstep.planning.variation.phrasing import Drawn, draw_words, options_of
from misstep.planning.variation.rewriting.clauses import (
    Appointment,
    phrased,
    reformed,
    time_forms,
    time_sentence,
    ways_to_hang,
)
from misstep.planning.variation.shapes import JOINED, LIST, TIMES, forms_of
from misstep.planning.variation.words import Choosing, Keeping, NothingLeft, Worded

_Part = tuple[SubSentence, Drawn]


def restructure(said: Sequence[Worded], avoid: Collection[str], choosing: Choosing) -> list[Worded]:
    """Sentences in allowed forms that demand the same, changed as little as possible.

    Raises `NothingLeft` if something can't be said in another form.
    """
    changed = list[Worded]()
    homeless = list[tuple[Appointment, Drawn]]()
    for each in said:
        if forms_of(each.sentence).isdisjoint(avoid):
            changed.append(each)
        else:
            rewriter = _Rewriter(avoid, choosing)
            changed += rewriter.rewrite(each)
            homeless += rewriter.homeless
    for appointment, words in homeless:
        changed = _hung(appointment, words, changed, choosing)
    return changed


def _hung(appointment: Appointment, words: Drawn, said: list[Worded], choosing: Choosing) -> list[Worded]:
    ways = ways_to_hang(appointment, [each.sentence for each in said])
    if not ways:
        raise NothingLeft("there is no clause for a time to hang on")
    number, sentence = choosing.dice.pick(ways)
    kept = draw_words(sentence, Keeping((*said[number].words, *words), choosing))
    return [*said[:number], Worded(sentence, kept), *said[number + 1 :]]


def parts_of(said: Worded) -> Iterator[_Part]:
    """The parts of a sentence, each with its words."""
    at = 0
    for part in said.sentence.parts:
        count = len(options_of(Sentence((part,))))
        yield part, said.words[at : at + count]
        at += count


def put_together(parts: Sequence[_Part], before: Worded) -> Worded:
    """A sentence of parts that replace those of another, one by one."""
    sentence = rejoined([part for part, _ in parts], before.sentence.joins)
    return Worded(sentence, tuple([word for _, words in parts for word in words]), before.redundant)


class _Rewriter:
    """Rewrites a sentence; `homeless` are times that still have to be attached to some clause."""

    def __init__(self, avoid: Collection[str], choosing: Choosing) -> None:
        self._avoid = avoid
        self._choosing = choosing
        self.homeless: list[tuple[Appointment, Drawn]] = []

    def rewrite(self, said: Worded) -> list[Worded]:
        """The sentence, or several: what can't stay in it gets its own."""
        whole, others = list[_Part](), list[_Part]()
        for part, words in parts_of(said):
            pieces = self._part(part, words)
            whole += pieces[:1]
            others += pieces[1:]
        if JOINED in self._avoid or len(whole) != len(said.sentence.parts):
            whole, others = [], [*whole, *others]
        alone = [Worded(Sentence((part,)), words, said.redundant) for part, words in others]
        if not whole:
            return alone
        return [put_together(whole, said), *alone]

    def _part(self, part: SubSentence, words: Drawn) -> list[_Part]:
        match part:
            case Clause():
                return self._clause(part, words)
            case Timed(form, edge, bound, time, actions):
                appointment = Appointment(actions, TimedRelative(edge, bound, time), form)
                return self._time(appointment, words)
            case Neighbours(form):
                forms = [form, *self._choosing.dice.shuffled(NEIGHBOUR_FORMS)]
                allowed = [each for each in forms if f"adjacent {each}" not in self._avoid]
                if not allowed:
                    raise NothingLeft("every form for neighbours is to be avoided")
                return [self._kept(msgspec.structs.replace(part, form=allowed[0]), words)]
            case Free(Group(actions)) if LIST in self._avoid:
                return [self._kept(Free(Group((action,))), words) for action in actions]
            case Duty(actions) if LIST in self._avoid:
                return [self._kept(Duty((action,)), words) for action in actions]
            case _:
                return [(part, words)]

    def _kept(self, part: SubSentence, words: Drawn) -> _Part:
        return part, draw_words(Sentence((part,)), Keeping(words, self._choosing))

    def _clause(self, clause: Clause, words: Drawn) -> list[_Part]:
        said = phrased(clause, words)
        times = list[_Part]()
        for name in ("subject", "object"):
            group = getattr(clause, name)
            if isinstance(group.relative, TimedRelative) and TIMES["relative"] in self._avoid:
                appointment = Appointment(group.actions, group.relative, "relative")
                times += self._time(appointment, getattr(said, name))
                clause = msgspec.structs.replace(clause, **{name: Group(group.actions)})
        said = msgspec.structs.replace(said, clause=clause)
        pieces = reformed(said, self._avoid, self._choosing)
        return [*((piece.clause, piece.words(self._choosing)) for piece in pieces), *times]

    def _time(self, said: Appointment, words: Drawn) -> list[_Part]:
        """Times in an allowed form; those that only a relative clause can state are kept for later."""
        forms = [form for form in time_forms(said) if TIMES[form] not in self._avoid]
        if len(said.actions) > 1 and (LIST in self._avoid or not forms):
            alone = [msgspec.structs.replace(said, actions=(action,)) for action in said.actions]
            return [part for each in alone for part in self._time(each, words)]
        if not forms:
            raise NothingLeft("every form for times is to be avoided")
        forms.sort(key=lambda form: (form == "relative", form != said.form))
        if forms[0] == "relative":
            self.homeless.append((said, words))
            return []
        (part,) = time_sentence(said, forms[0]).parts
        return [self._kept(part, words)]
