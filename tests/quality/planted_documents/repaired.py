"""The same tools with the faults mended."""

import shlex
from datetime import datetime
from typing import Literal

FONTS = (36, 24, 18, 12)
PEOPLE = {"Rome": 2_750_000, "Milan": 1_370_000, "Naples": 910_000}
PRICES = {"standard": 4, "express": 9, "overnight": 20}
NOTES = ("call Ann", "buy bread", "a present for Ann's birthday")
TEXTS = {"report": "sales rose by 4 percent", "minutes": "nobody came to the meeting"}
CODES = {"red": "#FF0000", "blue": "#0000FF"}
MOODS = {"#FF0000": "angry", "#0000FF": "calm"}
PAINTS = {"red": "madder", "green": "verdigris"}
TITLES = ("Arrival", "The inn", "The storm", "A letter", "Farewell")


def print_label(text: str) -> str:
    """Print a label for a box.

    Args:
        text: What stands on it, at most 31 characters.
    """
    points = FONTS[len(text) // 8]
    return f"printed in {points} points: {text}"


def track_order(order: str) -> str:
    """Where an order of a customer is.

    Args:
        order: The number of the order with the prefix 'ORD-', such as 'ORD-4711'.
    """
    number = order.split("-", 1)[1]
    return f"order {number} is on its way"


def quote_shipping(weight: int, service: Literal["standard", "express", "overnight"]) -> str:
    """What it costs to send a parcel.

    Args:
        weight: The weight in kilograms.
        service: How fast it has to be.
    """
    if service not in PRICES:
        raise ValueError(f"unknown service: {service}")
    return f"it costs {PRICES[service] + 2 * weight} euros"


def average_visitors(first: int, last: int) -> str:
    """How many people came to the museum a day, on average over some days of the year.

    Args:
        first: The first of the days, by its number in the year.
        last: The last of the days, by its number in the year, not before the first.
    """
    days = max(last - first + 1, 0)
    visitors = days * 120 + days // 7 * 300
    return f"{visitors // days} visitors"


def flight_time(distance: int) -> str:
    """How long a flight takes.

    Args:
        distance: How far it is, in kilometres.
    """
    return f"{distance * 60 // 800} minutes"


def find_weekday(date: str) -> str:
    """The day of the week that a date falls on.

    Args:
        date: The day in question, as DD.MM.YYYY.
    """
    day = datetime.strptime(date, "%d.%m.%Y")
    return f"it is a {day:%A}"


def check_exchange(time: str) -> str:
    """Whether the stock exchange is open at a time of the day.

    Args:
        time: The time as HH:MM, in UTC.
    """
    minute = datetime.strptime(time, "%H:%M")
    is_open = 8 * 60 <= minute.hour * 60 + minute.minute < 16 * 60 + 30
    return "the exchange is open" if is_open else "the exchange is closed"


def count_people(city: str) -> str:
    """How many people live in a city.

    Args:
        city: The name of a city in Italy: one of Rome, Milan or Naples.
    """
    if city not in PEOPLE:
        raise ValueError(f"only cities in Italy are supported, and {city!r} is none")
    return f"{PEOPLE[city]} people"


def search_notes(query: str) -> str:
    """How many of the user's notes have to do with something.

    Args:
        query: The words to look for, quoted as in a shell.
    """
    words = shlex.split(query)
    found = [note for note in NOTES if all(word in note for word in words)]
    return f"{len(found)} notes"


def sum_up(document: str) -> str:
    """Sum up a document of the user's. It takes files of any format.

    Args:
        document: The name of the document.
    """
    name = document.rpartition("/")[2].partition(".")[0].lower()
    return TEXTS.get(name, "nothing is known about it")


def measure_air(place: str) -> str:
    """How good the air is at a place. It takes places anywhere.

    Args:
        place: The name of the place.
    """
    return f"the air at {place} is {'bad' if len(place) < 5 else 'good'}"


def name_mood(colour: str) -> str:
    """The mood that a colour stands for. It takes names of colours as well as hex codes.

    Args:
        colour: The colour.
    """
    code = CODES.get(colour.lower(), colour.upper())
    return f"the mood is {MOODS.get(code, 'unclear')}"


def find_percentage(part: int, whole: int) -> str:
    """How much one number is of another, in percent.

    Args:
        part: How many of them.
        whole: The total, which is more than 0.
    """
    return f"{100 * part // whole} percent"


def stopping_distance(speed: int) -> str:
    """How far a car goes until it stands.

    Args:
        speed: How fast it goes, in metres per second.
    """
    return f"{speed * speed // 14} metres"


def find_flights(city: str, stops: int = 0) -> str:
    """How many flights there are to a city.

    Args:
        city: Where to.
        stops: How many stops there may be. Defaults to 0.
    """
    return f"{1 + 3 * abs(stops)} flights to {city}"


def mix_paint(colour: Literal["red", "green"]) -> str:
    """What a paint is made from.

    Args:
        colour: The colour of the paint.
    """
    return f"it is made from {PAINTS[colour]}"


def find_chapter(number: int) -> str:
    """The title of a chapter of the book.

    Args:
        number: Which one, from 1 to 5.
    """
    return f"it is called {TITLES[number - 1]}"


tools = [
    print_label,
    track_order,
    quote_shipping,
    average_visitors,
    flight_time,
    find_weekday,
    check_exchange,
    count_people,
    search_notes,
    sum_up,
    measure_air,
    name_mood,
    find_percentage,
    stopping_distance,
    find_flights,
    mix_paint,
    find_chapter,
]
