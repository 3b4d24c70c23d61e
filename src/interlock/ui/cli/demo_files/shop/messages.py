"""What the shop says to people."""

GREETINGS = {
    "fr": "Bonjour",
}
