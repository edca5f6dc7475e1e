"""Functions with a bug each, which says BUG, behind gates of different kinds."""


def long_name(path: str, text: str) -> str:
    if len(path) > 255:
        raise OSError("BUG long")
    return text


def nul(path: str, text: str) -> str:
    if "\0" in text:
        raise ValueError("BUG nul")
    return path


def surrogate(query: str) -> int:
    try:
        return len(query.encode())
    except UnicodeEncodeError:
        raise RuntimeError("BUG surrogate") from None


def empty(items: list) -> str:
    if not items:
        raise IndexError("BUG empty")
    return str(items[0])


def off_by_one(index: int) -> int:
    letters = [0] * 10
    if index < 0 or index > len(letters):
        raise ValueError("out of range")
    if index == len(letters):
        raise IndexError("BUG off by one")
    return letters[index]


def relation(start: int, end: int) -> int:
    if start > end:
        raise ZeroDivisionError("BUG relation")
    return end - start


def same(source: str, target: str) -> str:
    if source == target:
        raise RuntimeError("BUG same")
    return target


def staircase(text: str) -> str:
    """Every step is a place of its own in the code."""
    if len(text) > 2:
        if text[0] == "/":
            if text[1] == "(":
                if text.endswith("\n"):
                    raise RuntimeError("BUG staircase")
                return "four"
            return "three"
        return "two"
    return "one"


def both(kind: str, level: int, flag: bool = False) -> str:
    if kind == "deep":
        if level > 1000:
            if flag:
                raise RuntimeError("BUG both")
            return "flag"
        return "level"
    return "kind"


def nested(depth: str) -> int:
    deep = 0
    for character in depth:
        if character == "(":
            deep += 1
        if deep > 12:
            raise RecursionError("BUG nested")
    return deep
