"""Messages of the shop to its customers."""

GREETINGS = {
    "fr": "Bonjour",
}
