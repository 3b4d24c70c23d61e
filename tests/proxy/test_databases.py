"""The way to one database: which first messages of a connection it passes on."""

import struct

import pytest

from interlock.proxy.databases import may_pass

OWN = {"user": "interlock_1", "database": "interlock_1", "application_name": "tests"}


def first(words: dict[str, str], version: int = 3 << 16) -> bytes:
    body = b"".join(f"{name}\0{text}\0".encode() for name, text in words.items()) + b"\0"
    return struct.pack("!II", 8 + len(body), version) + body


@pytest.mark.parametrize("more", [{}, {"options": ""}, {"options": "-c statement_timeout=5s"}])
def test_the_owner_may_connect_to_its_database(more: dict[str, str]) -> None:
    assert may_pass(first(OWN | more), "interlock_1")
    assert may_pass(first(OWN | more, version=3 << 16 | 2), "interlock_1")
    assert may_pass(first({"user": "interlock_1"}), "interlock_1")  # the database is then that of the user


@pytest.mark.parametrize(
    "words",
    [
        OWN | {"user": "postgres"},
        OWN | {"database": "postgres"},
        OWN | {"replication": "database"},
        {"database": "interlock_1"},
        {},
    ],
)
def test_nothing_else_is_passed_on(words: dict[str, str]) -> None:
    assert not may_pass(first(words), "interlock_1")


def test_a_second_user_and_another_protocol_are_refused() -> None:
    twice = first(OWN)[8:-1] + b"user\0postgres\0\0"
    assert not may_pass(struct.pack("!II", 8 + len(twice), 3 << 16) + twice, "interlock_1")
    assert not may_pass(first(OWN, version=2 << 16), "interlock_1")
    assert not may_pass(struct.pack("!IIII", 16, 80877102, 1, 2), "interlock_1")  # CancelRequest
    assert not may_pass(struct.pack("!II", 8, 3 << 16), "interlock_1")
