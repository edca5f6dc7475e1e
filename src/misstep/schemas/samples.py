"""Plausible values for parameters: those that suit their names, and those that descriptions mention."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TypeVar

from misstep.core.secrets import mask_shapes

T = TypeVar("T")
Texts = tuple[str, ...]

_DAYS = tuple((date(2027, 1, 11) + timedelta(days=23 * number)).isoformat() for number in range(14))
_TIMES = ("08:30", "09:15", "11:45", "13:20", "16:00", "18:30", "20:10")
_MOMENTS = tuple(f"{day}T{time}:00Z" for day, time in zip(_DAYS, _TIMES, strict=False))
_CITIES = ("Lisbon", "Oslo", "Nairobi", "Toronto", "Osaka", "Lima", "Geneva", "Melbourne", "Cairo", "Riga")
_PEOPLE = ("Maria Lopez", "Tom Becker", "Aisha Khan", "Liam Murphy", "Yuki Tanaka", "Nina Petrov")
_USERS = tuple(name.lower().replace(" ", ".") for name in _PEOPLE)
_EMAILS = tuple(f"{user}@example.com" for user in _USERS)
_URLS = tuple(
    f"https://example.com/{page}" for page in ("news", "pricing", "docs/start", "blog/spring", "team")
)
_HOSTS = ("example.com", "mail.example.org", "shop.example.net", "files.example.com")
_FILES = ("report.txt", "notes.md", "data/sales.csv", "images/logo.png", "src/main.py", "config.json")
_FOLDERS = ("reports", "data/archive", "images", "src", "backups/weekly")
_QUERIES = ("cheap flights", "electric bicycles", "vegetarian recipes", "solar panels", "museums nearby")
_SENTENCES = (
    "The meeting has been moved to the small hall",
    "Thank you for the quick reply",
    "The delivery will arrive on Thursday",
    "Please bring the signed forms along",
    "The new version is ready for review",
)
_TITLES = ("Quarterly review", "Summer party", "Budget for next year", "Release plan", "Trip to the coast")
_STREETS = ("12 Harbour Street", "48 Mill Lane", "7 Station Road", "230 Garden Avenue", "5 Market Square")
_COMPANIES = ("Northwind Traders", "Blue Harbour Foods", "Alpine Tools", "Lakeside Print")


def _by_name(grouped: dict[str, T]) -> dict[str, T]:
    return {name: values for names, values in grouped.items() for name in names.split(", ")}


# By the last words of a name; the longest known match counts.
_TEXTS: dict[str, Texts] = _by_name(
    {
        "address, street": _STREETS,
        "airport": ("LIS", "OSL", "NBO", "YYZ", "KIX"),
        "airline": ("KLM", "Finnair", "Qantas", "Iberia"),
        "amount": ("120.50", "75.00", "310.25"),
        "animal": ("otter", "heron", "badger", "lynx"),
        "author, contact, customer, guest, name, person": _PEOPLE,
        "body, comment, content, description, input, line, message, note, summary, text": _SENTENCES,
        "branch": ("main", "develop", "feature/search", "release-2"),
        "brand, client, company, organization": _COMPANIES,
        "caption, event, headline, subject, title": _TITLES,
        "category": ("books", "furniture", "sports", "music", "kitchen"),
        "channel": ("general", "support", "random", "announcements"),
        "city, destination, from, location, origin, place, source": _CITIES,
        "class": ("economy", "standard", "premium"),
        "color, colour": ("green", "dark blue", "orange", "silver"),
        "column": ("price", "quantity", "region", "created_at"),
        "command": ("ls", "git status", "make test", "df -h"),
        "country": ("Portugal", "Norway", "Kenya", "Canada", "Japan", "Peru", "Switzerland", "Australia"),
        "country code": ("PT", "NO", "KE", "CA", "JP"),
        "currency": ("EUR", "USD", "JPY", "CHF", "NOK"),
        "database": ("sales", "inventory", "customers"),
        "date, day, deadline, due, end, start": _DAYS,
        "date time, datetime, timestamp": _MOMENTS,
        "department": ("Sales", "Logistics", "Research", "Human Resources"),
        "directory, dir, folder": _FOLDERS,
        "domain, host, hostname": _HOSTS,
        "email, email address, mail, recipient, sender, to": _EMAILS,
        "endpoint, link, uri, url, website": _URLS,
        "expression": ("3 * (4 + 5)", "17 + 25", "144 / 12", "2 ** 10"),
        "extension": ("txt", "csv", "png", "json"),
        "file, file name, filename, file path, filepath, path": _FILES,
        "first name": tuple(name.split()[0] for name in _PEOPLE),
        "format": ("csv", "json", "pdf", "markdown"),
        "genre": ("jazz", "mystery", "documentary", "comedy"),
        "hotel": ("Hotel Aurora", "Seaside Inn", "Grand Plaza"),
        "id": ("A1042", "K2210", "M3307", "P4815", "R5921"),
        "ingredient": ("flour", "basil", "lemon", "chickpeas"),
        "ip, ip address": ("192.0.2.10", "198.51.100.7", "203.0.113.25"),
        "isbn": ("9783161484100", "9780306406157"),
        "item, product": ("desk lamp", "garden chair", "coffee grinder", "rain jacket", "wall clock"),
        "job": ("nightly-backup", "weekly-report", "import-orders"),
        "key": ("region", "priority", "owner", "season"),
        "keyword, label, tag": ("urgent", "garden", "travel", "finance", "weekly", "draft"),
        "language": ("English", "Portuguese", "Japanese", "Swahili", "French"),
        "language code, lang": ("en", "pt", "ja", "sw", "fr"),
        "last name": tuple(name.split()[1] for name in _PEOPLE),
        "locale": ("en-GB", "pt-PT", "ja-JP", "fr-CH"),
        "login, owner, user, username": _USERS,
        "model": ("standard", "compact", "deluxe"),
        "month": ("January", "April", "July", "October"),
        "movie": ("Metropolis", "Casablanca", "Spirited Away"),
        "order id": ("A1042", "K2210", "M3307"),
        "phone, phone number": ("+15550142", "+15550178", "+15550119"),
        "postal code, postcode, zip, zip code, zipcode": ("10115", "90210", "75001", "00100"),
        "priority": ("low", "medium", "high"),
        "project": ("apollo", "orchard", "lighthouse"),
        "prompt": ("a lighthouse at dawn", "a quiet village in winter", "a red kite over the sea"),
        "quantity": ("2", "5", "12"),
        "query, search, term": _QUERIES,
        "question": ("How tall is Mount Kenya?", "When was the printing press invented?"),
        "reason": ("The order arrived damaged", "The date no longer suits us", "It was booked twice"),
        "recipe": ("lentil soup", "apple pie", "mushroom risotto"),
        "region": ("north", "coast", "highlands", "eu-west-1"),
        "repo, repository": ("orchard", "lighthouse", "field-notes"),
        "restaurant": ("The Old Mill", "Green Table", "Casa Azul"),
        "role": ("editor", "viewer", "admin"),
        "room": ("Room 204", "Garden Room", "Hall B"),
        "section": ("Introduction", "Methods", "Prices"),
        "service": ("billing", "search", "notifications"),
        "size": ("small", "medium", "large"),
        "song": ("Moonlight Sonata", "Blue Train", "Clair de Lune"),
        "sql": ("SELECT name FROM customers", "SELECT count(*) FROM orders"),
        "state": ("Oregon", "Vermont", "Texas", "Ohio"),
        "status": ("open", "done", "in progress"),
        "stock, symbol, ticker": ("MSFT", "NVDA", "SAP", "SONY"),
        "table": ("orders", "customers", "invoices"),
        "task": ("water the plants", "call the plumber", "file the invoices"),
        "team": ("Design", "Platform", "Support"),
        "time": _TIMES,
        "timezone, time zone": ("Europe/Lisbon", "Africa/Nairobi", "Asia/Tokyo"),
        "topic": ("renewable energy", "beekeeping", "medieval maps", "urban gardens"),
        "type": ("standard", "basic", "premium"),
        "unit": ("metric", "kilometres", "celsius"),
        "user id": ("1042", "2210", "3307"),
        "value": ("42", "blue", "enabled"),
        "version": ("1.4.2", "2.0.0", "3.1.5"),
        "word": ("harbour", "lantern", "meadow"),
    }
)

_BY_FORMAT: dict[str, Texts] = _by_name(
    {
        "date": _DAYS,
        "time": tuple(f"{time}:00Z" for time in _TIMES),
        "date-time": _MOMENTS,
        "duration": ("PT30M", "P2D", "PT4H"),
        "email, idn-email": _EMAILS,
        "hostname": _HOSTS,
        "ipv4": ("192.0.2.10", "198.51.100.7", "203.0.113.25"),
        "ipv6": ("2001:db8::10", "2001:db8::7", "2001:db8::25"),
        "uri, url, iri": _URLS,
        "uri-reference": ("/news", "/pricing", "/docs/start"),
        "uuid": (
            "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
            "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
            "9b2d7c10-52aa-4c8e-8f3b-1d6a7e5c4b20",
        ),
        "path, file-path": _FILES,
        "directory-path": _FOLDERS,
        "json-pointer": ("/name", "/items/0"),
    }
)

PLAIN: Texts = ("harbour", "lantern", "meadow", "compass", "orchard", "granite", "willow", "saffron")

# What patterns ask for most often, short ones first.
CODES: Texts = (
    "7", "42", "137", "4815", "10115", "204816", "5550142", "20481632", "2048163264", "204816326412",
    "A", "PT", "EUR", "KLMN", "A1", "A12", "AB1", "AB12", "AB123", "ABC1234", "ABC-123", "AB-1234", "A-1042",
    "#1f7a4d", "1f7a4d", "0x1f7a4d", "1f7a4d9c",
    "6f9619ff8b864d01b42d00c0", "6f9619ff8b864d01b42d00c04fc964ff",
    "pt", "en-GB", "pt_PT", "blue-harbour", "blue_harbour", "blueHarbour", "BlueHarbour", "BLUE_HARBOUR",
    "v1.4.2", "1.4.2", "1.4",
    "10:30", "10:30:00", "2027-03", "20270314", "14/03/2027", "03/14/2027", "14.03.2027",
    "+15550142000", "555-0142", "555-014-2000", "(555) 014-2000", "12.50", "@lantern", "#lantern", "/lantern",
    "U1042AB", "C1042ABCD", "T-1042", "PROJ-42", "INV-2027-0042", "ORD-1042",
    "user_1042", "id_1042", "sku-1042",
)  # fmt: skip

# Minimum, maximum and step, by the last words of a name.
_RANGES: dict[str, tuple[int, int, int]] = _by_name(
    {
        "age": (18, 80, 1),
        "amount, price": (10, 500, 5),
        "budget": (200, 3000, 50),
        "count, hour, month, quantity": (1, 12, 1),
        "day": (1, 14, 1),
        "distance": (2, 80, 1),
        "duration": (10, 90, 5),
        "guest": (1, 8, 1),
        "height, width": (200, 1200, 50),
        "id": (1000, 9999, 1),
        "lat, latitude": (-55, 65, 1),
        "limit": (3, 25, 1),
        "lng, lon, longitude": (-150, 150, 1),
        "minute, second": (5, 55, 5),
        "night, score": (1, 10, 1),
        "page": (1, 9, 1),
        "percent, percentage": (5, 95, 5),
        "port": (8000, 9000, 1),
        "radius": (2, 50, 1),
        "rating": (1, 5, 1),
        "size": (1, 50, 1),
        "temperature": (10, 30, 1),
        "top": (3, 10, 1),
        "weight": (2, 90, 1),
        "year": (2027, 2032, 1),
    }
)
_ANY_NUMBER = (2, 60, 1)


def texts_for(name: str, form: object = None) -> Texts:
    """Texts that suit a parameter with this name and format."""
    known = _BY_FORMAT.get(form) if isinstance(form, str) else None
    return known or next((_TEXTS[key] for key in _keys(name) if key in _TEXTS), PLAIN)


def range_for(name: str) -> tuple[int, int, int]:
    """The minimum and maximum of a plausible number for this name, and the step."""
    return next((_RANGES[key] for key in _keys(name) if key in _RANGES), _ANY_NUMBER)


def _keys(name: str) -> list[str]:
    """Lookup keys of a name: its last two words, its last one, then the others from the back."""
    words = words_of(name)
    return [" ".join(words[-2:]), *reversed(words)]


def words_of(name: str) -> Sequence[str]:
    """The words of a name in the singular: `departureCities` has `departure` and `city`."""
    apart = re.sub(r"([a-z0-9])([A-Z])|[^A-Za-z]+", r"\1 \2", name)
    return [_singular(word) for word in apart.lower().split()]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3
    return word[:-1] if is_plural else word


LONGEST_TEXT = 20_000  # characters of a description
LONGEST = 200  # characters of a value
MOST = 60  # values from one description

_QUOTED = re.compile(
    r"""
    (?<![\w\\]) '([^'\n]{1,200})' (?!\w)
    | "([^"\n]{1,200})"
    | `{1,3}([^`\n]{1,200})`{1,3}
    | “([^”\n]{1,200})”
    | ‘([^’\n]{1,200})’
    """,
    re.VERBOSE,
)
_LISTED = re.compile(
    r"(?:one of|either|can be|must be|such as|allowed values(?: are)?|valid values(?: are)?|options(?: are)?"
    r"|possible values(?: are)?|choices(?: are)?|supported(?: \w+)?(?: are)?)[:\s]+([^.\n;)]{1,300})",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.,?|\bi\.\s?e\.,?|\bfor example,?|\bfor instance,?|\bexamples?\b|\blike\b)"
    r"\s*:?\s*([^\n;)]{1,200})",
    re.IGNORECASE,
)
_GIVEN_AS_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.,?|\bfor example,?|\bfor instance,?|\bexamples?:|\bsuch as)\s*"
    r"""(?:(-?\d{1,12}(?:\.\d{1,6})?)(?![\w.]*\w)|'([^'\n]{1,200})'(?!\w)|"([^"\n]{1,200})"|`([^`\n]{1,200})`"""
    r"|“([^”\n]{1,200})”|‘([^’\n]{1,200})’)",
    re.IGNORECASE,
)
_PAIR = re.compile(r"^\s*[\w-]{1,40}\s*[:=]\s*(.{1,200})$")
_PROMPT = re.compile(r"^\s*>>>\s*(.{1,200})$", re.MULTILINE)
_BETWEEN = re.compile(r"\s*(?:,|/|\||\bor\b|\band\b)\s*")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,12}(?:\.\d{1,6})?(?![\w.]*\w)")


def find_texts(description: str) -> list[str]:
    """Texts that a description gives as values, quoted ones first."""
    text = description[:LONGEST_TEXT]
    found = dict.fromkeys(value for value in _mentioned(text) if 0 < len(value) <= LONGEST)
    return list(found)[:MOST]


def find_examples(description: str) -> list[str | int | float]:
    """Values that a description explicitly gives as examples of what to pass."""
    found = list[str | int | float]()
    for example in _GIVEN_AS_EXAMPLE.finditer(description[:LONGEST_TEXT]):
        number, *texts = example.groups()
        text = next((each for each in texts if each is not None), "")
        found.append(text if number is None else float(number) if "." in number else int(number))
    return [each for each in dict.fromkeys(found) if mask_shapes(str(each)) == str(each)][:MOST]


def find_numbers(description: str) -> list[int | float]:
    numbers = _NUMBER.findall(description[:LONGEST_TEXT])
    return list(dict.fromkeys(float(each) if "." in each else int(each) for each in numbers))[:MOST]


def _mentioned(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        value = next(part for part in quoted.groups() if part is not None)
        yield from _with_value_alone(value)
    for prompt in _PROMPT.finditer(text):
        yield prompt[1].strip()
    for example in _EXAMPLE.finditer(text):
        value = _stripped(re.split(r"\.\s|\.$", example[1])[0])
        yield from _with_value_alone(value)
        if "," in value:
            yield from (_stripped(part) for part in _BETWEEN.split(value))
    for listing in _LISTED.finditer(text):
        parts = [_stripped(part) for part in _BETWEEN.split(listing[1])]
        yield from (part for part in parts if len(part) <= 40)


def _with_value_alone(text: str) -> Iterator[str]:
    """The text and, if it is a pair such as `query: libraries`, its value alone."""
    yield text
    if pair := _PAIR.match(text):
        yield _stripped(pair[1])


def _stripped(text: str) -> str:
    return text.strip().strip("'\"`“”‘’ ").rstrip(".,:")
