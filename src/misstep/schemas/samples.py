"""Plausible values for parameters, based on their names."""

import re
from collections.abc import Sequence
from datetime import date, timedelta

Texts = tuple[str, ...]

_DAYS = tuple((date(2027, 1, 11) + timedelta(days=23 * number)).isoformat() for number in range(14))
_TIMES = ("08:30", "09:15", "11:45", "13:20", "16:00", "18:30", "20:10")
_MOMENTS = tuple(f"{day}T{time}:00Z" for day, time in zip(_DAYS, _TIMES, strict=False))
_CITIES = ("Lisbon", "Oslo", "Nairobi", "Toronto", "Osaka", "Lima", "Geneva", "Melbourne", "Cairo", "Riga")
_COUNTRIES = ("Portugal", "Norway", "Kenya", "Canada", "Japan", "Peru", "Switzerland", "Australia")
_PEOPLE = ("Maria Lopez", "Tom Becker", "Aisha Khan", "Liam Murphy", "Yuki Tanaka", "Nina Petrov")
_FIRST_NAMES = tuple(name.split()[0] for name in _PEOPLE)
_LAST_NAMES = tuple(name.split()[1] for name in _PEOPLE)
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
_PRODUCTS = ("desk lamp", "garden chair", "coffee grinder", "rain jacket", "wall clock")
_COMPANIES = ("Northwind Traders", "Blue Harbour Foods", "Alpine Tools", "Lakeside Print")
_TAGS = ("urgent", "garden", "travel", "finance", "weekly", "draft")
_NUMBERS_OF_THINGS = ("A1042", "K2210", "M3307", "P4815", "R5921")

# By the last words of a name; the longest known match counts.
_BY_NAME: dict[str, Texts] = {
    "address": _STREETS,
    "airport": ("LIS", "OSL", "NBO", "YYZ", "KIX"),
    "airline": ("KLM", "Finnair", "Qantas", "Iberia"),
    "amount": ("120.50", "75.00", "310.25"),
    "animal": ("otter", "heron", "badger", "lynx"),
    "author": _PEOPLE,
    "body": _SENTENCES,
    "branch": ("main", "develop", "feature/search", "release-2"),
    "brand": _COMPANIES,
    "caption": _TITLES,
    "category": ("books", "furniture", "sports", "music", "kitchen"),
    "channel": ("general", "support", "random", "announcements"),
    "city": _CITIES,
    "class": ("economy", "standard", "premium"),
    "client": _COMPANIES,
    "color": ("green", "dark blue", "orange", "silver"),
    "colour": ("green", "dark blue", "orange", "silver"),
    "column": ("price", "quantity", "region", "created_at"),
    "command": ("ls", "git status", "make test", "df -h"),
    "comment": _SENTENCES,
    "company": _COMPANIES,
    "contact": _PEOPLE,
    "content": _SENTENCES,
    "country": _COUNTRIES,
    "country code": ("PT", "NO", "KE", "CA", "JP"),
    "currency": ("EUR", "USD", "JPY", "CHF", "NOK"),
    "customer": _PEOPLE,
    "database": ("sales", "inventory", "customers"),
    "date": _DAYS,
    "date time": _MOMENTS,
    "datetime": _MOMENTS,
    "day": _DAYS,
    "deadline": _DAYS,
    "department": ("Sales", "Logistics", "Research", "Human Resources"),
    "description": _SENTENCES,
    "destination": _CITIES,
    "directory": _FOLDERS,
    "dir": _FOLDERS,
    "domain": _HOSTS,
    "due": _DAYS,
    "email": _EMAILS,
    "email address": _EMAILS,
    "end": _DAYS,
    "endpoint": _URLS,
    "event": _TITLES,
    "expression": ("3 * (4 + 5)", "17 + 25", "144 / 12", "2 ** 10"),
    "extension": ("txt", "csv", "png", "json"),
    "file": _FILES,
    "file name": _FILES,
    "filename": _FILES,
    "file path": _FILES,
    "filepath": _FILES,
    "first name": _FIRST_NAMES,
    "folder": _FOLDERS,
    "format": ("csv", "json", "pdf", "markdown"),
    "from": _CITIES,
    "genre": ("jazz", "mystery", "documentary", "comedy"),
    "guest": _PEOPLE,
    "headline": _TITLES,
    "host": _HOSTS,
    "hostname": _HOSTS,
    "hotel": ("Hotel Aurora", "Seaside Inn", "Grand Plaza"),
    "id": _NUMBERS_OF_THINGS,
    "ingredient": ("flour", "basil", "lemon", "chickpeas"),
    "input": _SENTENCES,
    "ip": ("192.0.2.10", "198.51.100.7", "203.0.113.25"),
    "ip address": ("192.0.2.10", "198.51.100.7", "203.0.113.25"),
    "isbn": ("9783161484100", "9780306406157"),
    "item": _PRODUCTS,
    "job": ("nightly-backup", "weekly-report", "import-orders"),
    "key": ("region", "priority", "owner", "season"),
    "keyword": _TAGS,
    "label": _TAGS,
    "language": ("English", "Portuguese", "Japanese", "Swahili", "French"),
    "language code": ("en", "pt", "ja", "sw", "fr"),
    "lang": ("en", "pt", "ja", "sw", "fr"),
    "last name": _LAST_NAMES,
    "line": _SENTENCES,
    "link": _URLS,
    "locale": ("en-GB", "pt-PT", "ja-JP", "fr-CH"),
    "location": _CITIES,
    "login": _USERS,
    "mail": _EMAILS,
    "message": _SENTENCES,
    "model": ("standard", "compact", "deluxe"),
    "month": ("January", "April", "July", "October"),
    "movie": ("Metropolis", "Casablanca", "Spirited Away"),
    "name": _PEOPLE,
    "note": _SENTENCES,
    "order id": ("A1042", "K2210", "M3307"),
    "organization": _COMPANIES,
    "origin": _CITIES,
    "owner": _USERS,
    "path": _FILES,
    "person": _PEOPLE,
    "phone": ("+15550142", "+15550178", "+15550119"),
    "phone number": ("+15550142", "+15550178", "+15550119"),
    "place": _CITIES,
    "postal code": ("10115", "90210", "75001", "00100"),
    "postcode": ("10115", "90210", "75001", "00100"),
    "priority": ("low", "medium", "high"),
    "product": _PRODUCTS,
    "project": ("apollo", "orchard", "lighthouse"),
    "prompt": ("a lighthouse at dawn", "a quiet village in winter", "a red kite over the sea"),
    "quantity": ("2", "5", "12"),
    "query": _QUERIES,
    "question": ("How tall is Mount Kenya?", "When was the printing press invented?"),
    "reason": ("The order arrived damaged", "The date no longer suits us", "It was booked twice"),
    "recipe": ("lentil soup", "apple pie", "mushroom risotto"),
    "recipient": _EMAILS,
    "region": ("north", "coast", "highlands", "eu-west-1"),
    "repo": ("orchard", "lighthouse", "field-notes"),
    "repository": ("orchard", "lighthouse", "field-notes"),
    "restaurant": ("The Old Mill", "Green Table", "Casa Azul"),
    "role": ("editor", "viewer", "admin"),
    "room": ("Room 204", "Garden Room", "Hall B"),
    "search": _QUERIES,
    "section": ("Introduction", "Methods", "Prices"),
    "sender": _EMAILS,
    "service": ("billing", "search", "notifications"),
    "size": ("small", "medium", "large"),
    "song": ("Moonlight Sonata", "Blue Train", "Clair de Lune"),
    "source": _CITIES,
    "sql": ("SELECT name FROM customers", "SELECT count(*) FROM orders"),
    "start": _DAYS,
    "state": ("Oregon", "Vermont", "Texas", "Ohio"),
    "status": ("open", "done", "in progress"),
    "stock": ("MSFT", "NVDA", "SAP", "SONY"),
    "street": _STREETS,
    "subject": _TITLES,
    "summary": _SENTENCES,
    "symbol": ("MSFT", "NVDA", "SAP", "SONY"),
    "table": ("orders", "customers", "invoices"),
    "tag": _TAGS,
    "task": ("water the plants", "call the plumber", "file the invoices"),
    "team": ("Design", "Platform", "Support"),
    "term": _QUERIES,
    "text": _SENTENCES,
    "ticker": ("MSFT", "NVDA", "SAP", "SONY"),
    "time": _TIMES,
    "timestamp": _MOMENTS,
    "timezone": ("Europe/Lisbon", "Africa/Nairobi", "Asia/Tokyo"),
    "time zone": ("Europe/Lisbon", "Africa/Nairobi", "Asia/Tokyo"),
    "title": _TITLES,
    "to": _EMAILS,
    "topic": ("renewable energy", "beekeeping", "medieval maps", "urban gardens"),
    "type": ("standard", "basic", "premium"),
    "unit": ("metric", "kilometres", "celsius"),
    "uri": _URLS,
    "url": _URLS,
    "user": _USERS,
    "user id": ("1042", "2210", "3307"),
    "username": _USERS,
    "value": ("42", "blue", "enabled"),
    "version": ("1.4.2", "2.0.0", "3.1.5"),
    "website": _URLS,
    "word": ("harbour", "lantern", "meadow"),
    "zip": ("10115", "90210", "75001", "00100"),
    "zip code": ("10115", "90210", "75001", "00100"),
    "zipcode": ("10115", "90210", "75001", "00100"),
}

_BY_FORMAT: dict[str, Texts] = {
    "date": _DAYS,
    "time": tuple(f"{time}:00Z" for time in _TIMES),
    "date-time": _MOMENTS,
    "duration": ("PT30M", "P2D", "PT4H"),
    "email": _EMAILS,
    "idn-email": _EMAILS,
    "hostname": _HOSTS,
    "ipv4": ("192.0.2.10", "198.51.100.7", "203.0.113.25"),
    "ipv6": ("2001:db8::10", "2001:db8::7", "2001:db8::25"),
    "uri": _URLS,
    "url": _URLS,
    "uri-reference": ("/news", "/pricing", "/docs/start"),
    "iri": _URLS,
    "uuid": (
        "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
        "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        "9b2d7c10-52aa-4c8e-8f3b-1d6a7e5c4b20",
    ),
    "path": _FILES,
    "file-path": _FILES,
    "directory-path": _FOLDERS,
    "json-pointer": ("/name", "/items/0"),
}

PLAIN: Texts = ("harbour", "lantern", "meadow", "compass", "orchard", "granite", "willow", "saffron")

# What patterns ask for most often, short ones first.
CODES: Texts = (
    *("7", "42", "137", "4815", "10115", "204816", "5550142", "20481632", "2048163264", "204816326412"),
    *(
        "A",
        "PT",
        "EUR",
        "KLMN",
        "A1",
        "A12",
        "AB1",
        "AB12",
        "AB123",
        "ABC1234",
        "ABC-123",
        "AB-1234",
        "A-1042",
    ),
    *(
        "#1f7a4d",
        "1f7a4d",
        "0x1f7a4d",
        "1f7a4d9c",
        "6f9619ff8b864d01b42d00c0",
        "6f9619ff8b864d01b42d00c04fc964ff",
    ),
    *("pt", "en-GB", "pt_PT", "blue-harbour", "blue_harbour", "blueHarbour", "BlueHarbour", "BLUE_HARBOUR"),
    *(
        "v1.4.2",
        "1.4.2",
        "1.4",
        "10:30",
        "10:30:00",
        "2027-03",
        "20270314",
        "14/03/2027",
        "03/14/2027",
        "14.03.2027",
    ),
    *(
        "+15550142000",
        "555-0142",
        "555-014-2000",
        "(555) 014-2000",
        "12.50",
        "@lantern",
        "#lantern",
        "/lantern",
    ),
    *(
        "U1042AB",
        "C1042ABCD",
        "T-1042",
        "PROJ-42",
        "INV-2027-0042",
        "ORD-1042",
        "user_1042",
        "id_1042",
        "sku-1042",
    ),
)

# Minimum, maximum and step, by the last words of a name.
_RANGES: dict[str, tuple[int, int, int]] = {
    "age": (18, 80, 1),
    "amount": (10, 500, 5),
    "budget": (200, 3000, 50),
    "count": (1, 12, 1),
    "day": (1, 14, 1),
    "distance": (2, 80, 1),
    "duration": (10, 90, 5),
    "guest": (1, 8, 1),
    "height": (200, 1200, 50),
    "hour": (1, 12, 1),
    "id": (1000, 9999, 1),
    "lat": (-55, 65, 1),
    "latitude": (-55, 65, 1),
    "limit": (3, 25, 1),
    "lng": (-150, 150, 1),
    "lon": (-150, 150, 1),
    "longitude": (-150, 150, 1),
    "minute": (5, 55, 5),
    "month": (1, 12, 1),
    "night": (1, 10, 1),
    "page": (1, 9, 1),
    "percent": (5, 95, 5),
    "percentage": (5, 95, 5),
    "port": (8000, 9000, 1),
    "price": (10, 500, 5),
    "quantity": (1, 12, 1),
    "radius": (2, 50, 1),
    "rating": (1, 5, 1),
    "score": (1, 10, 1),
    "second": (5, 55, 5),
    "size": (1, 50, 1),
    "temperature": (10, 30, 1),
    "top": (3, 10, 1),
    "weight": (2, 90, 1),
    "width": (200, 1200, 50),
    "year": (2027, 2032, 1),
}
_ANY_NUMBER = (2, 60, 1)


def texts_for(name: str, form: object = None) -> Texts:
    """Texts that suit a parameter with this name and format."""
    known = _BY_FORMAT.get(form) if isinstance(form, str) else None
    return known or next((_BY_NAME[key] for key in _keys(name) if key in _BY_NAME), PLAIN)


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
