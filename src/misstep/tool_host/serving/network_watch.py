"""Counts attempts to reach the network from inside the sandbox, whatever language a tool is written in.

The sandbox has a network of its own, with nothing but a loopback interface. The kernel counts what it could
not route there. Names are looked up by datagrams to the loopback interface, where nobody answers.
"""

_DEVICES, _COUNTS, _COUNTS_6 = "/proc/net/dev", "/proc/net/snmp", "/proc/net/snmp6"
_COUNTED = ("Ip OutNoRoutes", "Udp OutDatagrams", "Ip6OutNoRoutes", "Udp6OutDatagrams")


class NetworkWatch:
    """Counts attempts since the last time; none if there is a real network, which others use as well."""

    def __init__(self) -> None:
        self._is_alone = _devices() == ["lo"]
        self._before = self._count()

    def attempts(self) -> int:
        before, self._before = self._before, self._count()
        return self._before - before

    def _count(self) -> int:
        if not self._is_alone:
            return 0
        counts = dict[str, int]()
        lines = _lines(_COUNTS)
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            kind = names[0].removesuffix(":")
            counts |= {
                f"{kind} {name}": int(value) for name, value in zip(names[1:], values[1:], strict=False)
            }
        counts |= {line[0]: int(line[1]) for line in _lines(_COUNTS_6) if len(line) == 2}
        return sum(counts.get(name, 0) for name in _COUNTED)


def _devices() -> list[str]:
    return [line[0].partition(":")[0] for line in _lines(_DEVICES)[2:]]


def _lines(path: str) -> list[list[str]]:
    try:
        with open(path, encoding="ascii") as file:
            return [words for line in file if (words := line.split())]
    except OSError:  # there is no such file on other systems
        return []
