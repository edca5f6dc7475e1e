"""Tools of a shop, which get into trouble after several calls in the right order."""

_carts: dict[str, list[str]] = {}
_paid: set[str] = set()


def add_to_cart(cart_id: str, product: str) -> str:
    """Put a product into a cart."""
    _carts.setdefault(cart_id, []).append(product)
    return f"{len(_carts[cart_id])} in the cart"


def checkout(cart_id: str) -> str:
    """Pay for what is in a cart."""
    if not _carts.get(cart_id):
        return "Error: the cart is empty"
    _paid.add(cart_id)
    return "paid"


def remove_from_cart(cart_id: str) -> str:
    """Take everything out of a cart."""
    if not _carts.get(cart_id):
        return "Error: the cart is empty"
    _carts[cart_id].clear()
    return "removed"


def receipt(cart_id: str) -> str:
    """Print the receipt of a cart that has been paid for."""
    if cart_id not in _paid:
        return "Error: nothing has been paid for"
    return f"{next(iter(_carts[cart_id]))} and more"


def opening_hours() -> str:
    """When the shop is open."""
    return "nine to five"


tools = [receipt, remove_from_cart, opening_hours, checkout, add_to_cart]
