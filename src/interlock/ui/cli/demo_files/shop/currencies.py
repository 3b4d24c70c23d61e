"""Formats amounts of money."""

SYMBOLS = {
    "GBP": "£",
}
