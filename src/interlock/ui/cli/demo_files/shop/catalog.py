"""What the shop sells, in cents."""

PRICES = {"apple": 30, "bread": 250, "cheese": 420}


def price(item):
    """What one of these costs."""
    return PRICES[item]


def cheapest():
    """The item that costs least."""
    return min(PRICES, key=price)
