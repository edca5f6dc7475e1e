"""Where a relative clause about time may hang."""

from collections.abc import Iterator

import msgspec

from misstep.planning.language.remarks import TimedRelative
from misstep.planning.language.syntax import Clause, Group, Sentence


def with_time(sentence: Sentence, action: int, time: TimedRelative) -> Iterator[Sentence]:
    """The sentence with a time said of an action, wherever that stands alone.

    One relative clause is enough for a clause, and at the end it would swallow what a comma ties to it.
    """
    for place, part in enumerate(sentence.parts):
        if not isinstance(part, Clause) or part.subject.relative or part.object.relative:
            continue
        tied = place < len(sentence.joins) and sentence.joins[place] != ";"
        for name in ("subject",) if tied else ("subject", "object"):
            if getattr(part, name).actions == (action,):
                described = msgspec.structs.replace(part, **{name: Group((action,), time)})
                parts = (*sentence.parts[:place], described, *sentence.parts[place + 1 :])
                yield msgspec.structs.replace(sentence, parts=parts)
