"""How to write an amount."""

SYMBOLS = {
    "GBP": "£",
}
