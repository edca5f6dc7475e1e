"""Tools that ask several things of one text before they get to work."""

BONUS = [5, 10, 15, 20]
SHELVES = {"AAA": "front", "BCK": "back"}
SQUARES = [n * n for n in range(1001)]


def redeem(token: str) -> str:
    """Redeem a gift token."""
    if not token.startswith("tok_"):
        raise ValueError("a token starts with tok_")
    if len(token) != 16:
        raise ValueError(f"a token has 16 characters, this one has {len(token)}")
    if not token[4:].isdigit():
        raise ValueError("a token ends in digits")
    number = int(token[4:])
    return f"{1000 // (number % 7)} points"


def track_parcel(code: str) -> str:
    """Tell where a parcel is."""
    if len(code) < 11:
        raise ValueError("that is too short for a parcel")
    if not code.endswith("-EU"):
        raise ValueError("only parcels within the EU can be tracked")
    if not (code[:3].isalpha() and code[:3].isupper()):
        raise ValueError("a code begins with three capital letters")
    if not code[3:8].isdecimal():
        raise ValueError("five digits follow upon the letters")
    return f"on the way from the {SHELVES[code[:3]]} shelf"


def release_notes(version: str) -> str:
    """Show what is new in a release."""
    parts = version.removeprefix("v").split(".")
    if len(parts) != 3:
        raise ValueError("a version has three parts")
    if not all(part.isdigit() for part in parts):
        raise ValueError("the parts of a version are numbers")
    if parts[0] != "2":
        raise ValueError("only the second edition has notes")
    return f"{60 // (int(parts[1]) - 12)} changes"


def apply_coupon(code: str) -> str:
    """Apply a coupon to the order."""
    left, dash, right = code.partition("-")
    if not dash or len(left) != 4 or not left.isalpha():
        raise ValueError("four letters and a dash come first")
    if len(right) != 3 or not right.isdigit():
        raise ValueError("three digits come last")
    return f"{BONUS[int(right[0])]} % off"


def sum_of_squares(span: str) -> str:
    """Add up the squares over a distance, such as 3-7."""
    first, dash, last = span.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        return "Error: write it like 3-7"
    if int(first) > int(last):
        return "Error: the lower number comes first"
    return f"up to {SQUARES[int(last) - int(first)]}"


tools = [redeem, track_parcel, release_notes, apply_coupon, sum_of_squares]
