"""What is written into files: listings, totals, or just words."""

from collections import Counter

from misstep.benchmarks.files.operations import Listing, Text, Totals, Types, Words
from misstep.benchmarks.files.selection import Selection, chosen, files_of, name_of
from misstep.benchmarks.tree import Tree


def written(text: Text, tree: Tree) -> str:
    match text:
        case Words(words):
            return words
        case Listing():
            return _listing(text, tree)
        case Totals(what):
            sizes = _sizes(what, tree)
            return f"{len(sizes)} files, {sum(sizes.values())} bytes\n"
        case Types(what):
            counts = Counter(name_of(path).rpartition(".")[2] for path in chosen(what, tree))
            return "".join(f"{ending} {counts[ending]}\n" for ending in sorted(counts))


def _listing(listing: Listing, tree: Tree) -> str:
    sizes = _sizes(listing.what, tree)
    if listing.form == "path":
        return "".join(f"{path}\n" for path in sorted(sizes))
    named = [(name_of(path), sizes[path]) for path in sorted(sizes, key=name_of)]
    if listing.total:
        named.append(("TOTAL", sum(sizes.values())))
    return "".join(f"{name}\n" if listing.form == "name" else f"{name} {size}\n" for name, size in named)


def _sizes(what: Selection, tree: Tree) -> dict[str, int]:
    files = files_of(tree)
    return {path: len(files[path]) for path in chosen(what, tree)}


def sorts_clearly(texts: list[str]) -> bool:
    """Whether all ways of sorting that people use agree: by bytes, without case, by letters alone."""
    plain = ["".join(letter for letter in text if letter.isalnum()).casefold() for text in texts]
    orders = (sorted(texts), sorted(texts, key=str.casefold), [texts[n] for n in _order(plain)])
    ascii_only = all(text.isascii() for text in texts)
    return ascii_only and len({*plain}) == len(plain) and all(order == orders[0] for order in orders)


def _order(keys: list[str]) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)
