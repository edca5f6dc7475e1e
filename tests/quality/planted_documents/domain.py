"""What people ask of tools like these, and what is true: all that is known about the world, nothing about faults."""

import re
from collections.abc import Mapping
from functools import cached_property

import msgspec


class Purpose(msgspec.Struct, frozen=True, dict=True):
    """What somebody wants of a tool.

    `template` is how it is asked for, `same` are words for each of its places that all mean one thing, to which
    `truth` is the answer. `usual` are other words that people put there. `cues` are words by which the
    documentation of a parameter tells that a place is meant; a single place needs none.
    """

    template: str
    same: Mapping[str, tuple[str, ...]]
    truth: str
    usual: Mapping[str, tuple[str, ...]]
    cues: Mapping[str, str] = {}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        spoken = re.escape(self.template).replace(r"\[", "[").replace(r"\]", "]")
        return re.compile(re.sub(r"\[(\w+)\]", r"(?P<\1>.*)", spoken), re.DOTALL)

    def ask(self, words: Mapping[str, str]) -> str:
        return re.sub(r"\[(\w+)\]", lambda place: words[place[1]], self.template)

    def hear(self, request: str) -> dict[str, str] | None:
        """The words at the places of the template; None if it is a request for something else."""
        found = self._pattern.search(request)
        return found.groupdict() if found else None

    def answer(self, request: str) -> str:
        """The true answer. It is known for the one meaning that requests of a set have."""
        words = self.hear(request)
        assert words is not None
        assert all(word in self.same[place] for place, word in words.items()), request
        return self.truth

    def place_of(self, name: str, description: str) -> str:
        """The place whose words a parameter is for, going by its description, else by its name."""
        for said in (description, name):
            for place, cue in self.cues.items():
                if re.search(cue, said, re.IGNORECASE):
                    return place
        (only,) = self.same
        return only


PURPOSES = {
    "print_label": Purpose(
        "Print me a label that says [text], please.",
        {"text": ("Books", '"Books"')},
        "printed in 36 points",
        {"text": ("Fragile: grandmother's porcelain, this side up", "Kitchen")},
    ),
    "track_order": Purpose(
        "Where is my order [order] right now?",
        {"order": ("4711", "ORD-4711")},
        "order 4711 is on its way",
        {"order": ("1234", "ORD-1234")},
    ),
    "quote_shipping": Purpose(
        "What does it cost to send [weight] by [service] delivery?",
        {"weight": ("3 kg", "3 kilograms", "3000 grams"), "service": ("express", "your express")},
        "it costs 15 euros",
        {"weight": ("1 kg", "20 kg"), "service": ("overnight", "standard")},
        {"weight": r"\bweight\b", "service": r"\bservice\b|how fast"},
    ),
    "average_visitors": Purpose(
        "How many people a day did we have in the museum from day [first] to day [last]?",
        {"first": ("1", "no. 1"), "last": ("7", "no. 7")},
        "162 visitors",
        {"first": ("360", "10"), "last": ("5", "20")},
        {"first": r"the first of", "last": r"the last of"},
    ),
    "flight_time": Purpose(
        "How long is a flight over [distance]?",
        {"distance": ("500 km", "500 kilometres", "500,000 metres", "500000 m")},
        "37 minutes",
        {"distance": ("1200 km", "800 kilometres")},
    ),
    "find_weekday": Purpose(
        "What day of the week is [date]?",
        {"date": ("1 May 2026", "May 1, 2026", "2026-05-01")},
        "it is a Friday",
        {"date": ("24 December 2026", "3 March 2027")},
    ),
    "check_exchange": Purpose(
        "Can I trade at the stock exchange at [time]?",
        {"time": ("16:00 UTC", "17:00 in Berlin", "11:00 in New York")},
        "the exchange is open",
        {"time": ("9:00 in London", "20:15 UTC")},
    ),
    "count_people": Purpose(
        "How many people live in [city]?",
        {"city": ("Rome", "the city of Rome")},
        "2750000 people",
        {"city": ("Paris", "Naples")},
    ),
    "search_notes": Purpose(
        "How many of my notes are about [query]?",
        {"query": ("bread", '"bread"')},
        "1 notes",
        {"query": ("Ann's birthday", "bread")},
    ),
    "sum_up": Purpose(
        "What does [document] say, in short?",
        {"document": ("report.docx", "report")},
        "sales rose by 4 percent",
        {"document": ("minutes.txt", "minutes")},
    ),
    "measure_air": Purpose(
        "How good is the air at [place]?",
        {"place": ("Zurich airport", "Kloten airport")},
        "is good",
        {"place": ("Zurich main station", "Geneva main station")},
    ),
    "name_mood": Purpose(
        "Which mood does [colour] stand for?",
        {"colour": ("blue", "#0000FF")},
        "the mood is calm",
        {"colour": ("#FF0000", "green")},
    ),
    "find_percentage": Purpose(
        "What percentage is [part] out of [whole] seats?",
        {"part": ("20", "twenty"), "whole": ("80", "eighty")},
        "25 percent",
        {"part": ("0", "12"), "whole": ("50", "100")},
        {"part": r"\bhow many of them\b", "whole": r"\btotal\b"},
    ),
    "stopping_distance": Purpose(
        "How far does a car go until it stands, at [speed]?",
        {"speed": ("108 km/h", "108 kilometres per hour", "30 m/s", "30 metres per second")},
        "64 metres",
        {"speed": ("36 km/h", "72 km/h")},
    ),
    "find_flights": Purpose(
        "How many flights go to [city] with no more than [stops] stops?",
        {"city": ("Oslo", "the city of Oslo"), "stops": ("2", "two")},
        "7 flights",
        {"city": ("Lima", "Cairo"), "stops": ("0", "1")},
        {"city": r"where to|\bcity\b", "stops": r"\bstops\b"},
    ),
    "mix_paint": Purpose(
        "What is [colour] paint made from?",
        {"colour": ("green", "a green")},
        "it is made from verdigris",
        {"colour": ("blue", "red")},
    ),
    "find_chapter": Purpose(
        "What is chapter [number] of the book called?",
        {"number": ("2", "two")},
        "it is called The inn",
        {"number": ("1", "5")},
    ),
}
