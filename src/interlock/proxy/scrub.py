"""Keeps the credential out of what goes back to a program, should a server repeat it."""


class Scrubber:
    """Puts stars in place of a secret in a stream, as many as it has bytes, wherever the stream is cut."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._stars = b"*" * len(self._secret)
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes that can go on. Only a possible beginning of the secret is held back."""
        if not self._secret:
            return chunk
        text = (self._held + chunk).replace(self._secret, self._stars)
        held = self._begun(text)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def finish(self) -> bytes:
        rest, self._held = self._held, b""
        return rest

    def whole(self, text: str) -> str:
        """The same for a text that comes in one piece."""
        raw = text.encode(errors="surrogateescape")
        clean = raw.replace(self._secret, self._stars) if self._secret else raw
        return clean.decode(errors="surrogateescape")

    def _begun(self, text: bytes) -> int:
        """Return the number of bytes at the end that could be the secret's first ones."""
        longest = min(len(self._secret) - 1, len(text))
        return next((size for size in range(longest, 0, -1) if text.endswith(self._secret[:size])), 0)
