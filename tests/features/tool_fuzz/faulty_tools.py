"""Tools with faults, as a user would write them, for runs of the fuzzer."""

TOOLS = '''
import time


def lookup(query: str) -> str:
    """Look something up. A query begins with 'query: '."""
    return query.split("query: ")[1]


def share(amount: int, people: int) -> float:
    """Divide an amount between people."""
    return amount / people


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def refuse(name: str) -> str:
    """Take nobody."""
    raise ValueError(f"nobody called {name} is known here")


def fetch(page: str) -> str:
    """Fetch a page of the internet."""
    import urllib.request

    return urllib.request.urlopen("http://192.0.2.1/" + str(len(page))).read().decode()


def slowly(text: str) -> str:
    """Take some time."""
    time.sleep(0.02)
    return text


class Shop:
    """A shop that forgets to look whether there is an item."""

    def __init__(self) -> None:
        self._items: dict[str, int] = {}

    def add_item(self, name: str, price: int) -> str:
        """Add an item to the shop."""
        self._items[name] = price
        return f"added {name}"

    def remove_item(self, name: str) -> str:
        """Remove an item from the shop."""
        if name not in self._items:
            return f"Error: there is no {name}"
        del self._items[name]
        return f"removed {name}"

    def cheapest(self) -> str:
        """The cheapest item of the shop."""
        return min(self._items, key=self._items.__getitem__) if self._items else "nothing"

    def average(self) -> float:
        """The average price of what is in the shop, once something has been added."""
        if not self._items:
            raise LookupError("the shop is empty")
        return sum(self._items.values()) / (len(self._items) - 1)


def get_tools() -> list:
    shop = Shop()
    return [shop.add_item, shop.remove_item, shop.cheapest, shop.average]


tools = [lookup, share, greet]
'''
