"""Decides which calls to make next, based on the reactions to earlier ones."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from misstep.core.results.trial import Judged
from misstep.core.rng import Dice, Hashes, derive_seed
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.search.attempt import CallIdea, CallSequence
from misstep.fuzzing.search.inspiration import Inspiration, written_calls
from misstep.fuzzing.search.lessons import Lessons
from misstep.fuzzing.search.subject import FuzzSubject, Supply, encode, pools

_INVALID = 0.1  # share of calls that the schema forbids
_TRIES = 300  # rejected ideas in a row after which nothing is left
_LARGEST = 1 << 18  # characters of one call's arguments
_URGENT, _OTHER = 4, 2  # one idea in this many is not a follow-up, while there are follow-ups
_WAITING = 2000  # ideas
_PATIENCE = 4  # calls with known results for each call requested at once
_ONE_IN = 64  # one in this many other calls is marked
_LINGERING = 0.002  # chance of a call that may hang or crash


class Fuzzer:
    """The fuzzer of one tool, or of a toolkit whose tools share state.

    `supplies` provides arguments for a tool, by default from pools; `corpus` is what an earlier fuzzer kept;
    `files` are paths that the tools can find. The same seed and the same reactions give the same attempts.
    """

    def __init__(
        self,
        tools: Sequence[Described],
        seed: int,
        supplies: Callable[[Described], Supply] | None = None,
        corpus: Iterable[str] = (),
        files: Sequence[str] = (),
    ) -> None:
        self._dice = Dice(derive_seed(seed, "fuzzing"))
        supply = supplies or pools(seed)
        subjects = [
            FuzzSubject(tool, index, supply(tool), self._dice, files) for index, tool in enumerate(tools)
        ]
        self._subjects = {subject.name: subject for subject in subjects}
        self._ideas = Inspiration(subjects, list(corpus), self._dice)
        self._lessons = Lessons(self._subjects, self._ideas, self._dice)
        self._front = deque[CallIdea](maxlen=_WAITING)
        self._tried = Hashes()
        self._flying = dict[int, CallIdea]()
        self._asked = self._invalid = self._told = self._under_way = self._turn = 0
        self._over = False

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to try."""
        return self._over

    @property
    def corpus(self) -> list[str]:
        """The calls worth keeping, as JSON texts, each a list of calls."""
        return [written_calls(entry.calls) for entry in self._ideas.corpus]

    def ask(self, most: int) -> list[CallSequence]:
        """The next attempts, with at most `most` calls in total (or one longer attempt).

        There are fewer while little is known, so that each can learn from the one before. There are none
        while results are outstanding, and when nothing is left to try.
        """
        room = min(most, 1 + self._told // _PATIENCE - self._under_way)
        attempts = list[CallSequence]()
        while room > 0 and not self._over:
            attempt = self._next()
            if attempt is None:
                self._over = not attempts
                break
            attempts.append(attempt)
            room -= len(attempt.calls)
        return attempts

    def tell(self, attempt: CallSequence, reactions: Sequence[Reaction], judged: Sequence[Judged]) -> None:
        """Take in the reactions to an attempt; fewer than calls if it was interrupted."""
        idea = self._flying.pop(attempt.number, None)
        if idea is None:
            return
        self._told += len(reactions)
        self._under_way -= len(attempt.calls)
        # Follow-ups of the latest discovery come first.
        self._front.extendleft(reversed(self._lessons.learn(idea, reactions, judged)))

    def _next(self) -> CallSequence | None:
        if self._ideas.is_spent(self._asked):
            return None
        idea = None
        for _ in range(_TRIES):
            idea = self._idea()
            if idea is None:
                continue
            attempt = self._accepted(idea)
            if attempt is not None:
                return attempt
            self._ideas.waste(idea)
        if idea is None or self._ideas.finite:
            return None
        idea.again = True  # better a repetition than nothing, while not everything has been tried
        return self._accepted(idea)

    def _idea(self) -> CallIdea | None:
        """A follow-up of recent calls, with other ideas in between."""
        if self._front:
            self._turn += 1
            if self._turn % (_URGENT if self._front[0].urgent else _OTHER):
                return self._front.popleft()
        return self._ideas.next()

    def _accepted(self, idea: CallIdea) -> CallSequence | None:
        """The attempt for an idea; None if it is not worth a call."""
        try:
            texts = [encode(arguments) for _, arguments in idea.calls]
        except (ValueError, RecursionError):
            return None
        if not all(
            self._subjects[tool].can_get(text) for (tool, _), text in zip(idea.calls, texts, strict=True)
        ):
            return None
        idea.size = sum(map(len, texts))
        if idea.size > _LARGEST or not (self._is_new(idea, texts) or idea.again):
            return None
        fits, broken = self._fit(idea)
        idea.broken = broken
        if broken and not idea.again and self._invalid > _INVALID * (self._asked + 10):
            return None
        if self._ideas.threatens(idea) and not self._dice.chance(_LINGERING):
            return None
        self._asked += len(texts)
        self._under_way += len(texts)
        self._invalid += bool(broken)
        names = [tool for tool, _ in idea.calls]
        idea.mark = self._marks(idea, names)
        invocations = tuple([Invocation(name, text) for name, text in zip(names, texts, strict=True)])
        attempt = CallSequence(self._asked, invocations, idea.mark, idea.origin, fits, broken)
        self._flying[attempt.number] = idea
        return attempt

    def _is_new(self, idea: CallIdea, texts: list[str]) -> bool:
        if len(texts) == 1:
            return self._tried.add(f"{idea.calls[0][0]} {texts[0]}")
        return self._tried.add(
            "\n".join(f"{call[0]} {text}" for call, text in zip(idea.calls, texts, strict=True))
        )

    def _fit(self, idea: CallIdea) -> tuple[tuple[bool, ...], str]:
        if idea.broken is not None and len(idea.calls) == 1:
            return (not idea.broken,), idea.broken
        misfits = [self._subjects[tool].misfit(arguments) for tool, arguments in idea.calls]
        return tuple([misfit is None for misfit in misfits]), next(filter(None, misfits), "")

    def _marks(self, idea: CallIdea, names: list[str]) -> bool:
        if not self._subjects[names[-1]].marking:
            return False
        return idea.mark or (len(names) == 1 and self._dice.chance(1 / _ONE_IN))
