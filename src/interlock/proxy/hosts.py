"""The hosts that an attempt may reach: reading the entries, and comparing a host with them.

1. A name is plain: letters, digits, hyphens, dots. What two parsers could read differently is refused.
2. A host is reached by the address that was checked, never by looking the name up again.
3. Names lead outside. To this machine or its neighbours leads only an entry that says so: an address,
   `localhost`, or for private networks a full name with its port.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from interlock.model.errors import UsageError

WEB_PORTS = frozenset({80, 443})
"""The ports of an entry without a port."""

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*", re.ASCII)
_ENTRY = re.compile(r"(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?", re.ASCII)
_TARGET = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+):(\d{1,5})", re.ASCII)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One entry of the list."""

    name: str
    port: int | None = None
    with_subdomains: bool = False

    def covers(self, name: str, port: int) -> bool:
        matches = name.endswith(f".{self.name}") if self.with_subdomains else name == self.name
        return matches and (port in WEB_PORTS if self.port is None else port == self.port)

    def may_lead_to(self, address: Address) -> bool:
        """Tell if the entry's author meant it to lead here."""
        plain = getattr(address, "ipv4_mapped", None) or address
        if self.name == "localhost":
            return bool(plain.is_loopback)
        if address_of(self.name):
            return True
        if plain.is_multicast or plain.is_loopback or plain.is_link_local or plain.is_unspecified:
            return False
        return bool(plain.is_global) or (
            self.port is not None and not self.with_subdomains and plain.is_private
        )


def address_of(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def hosts_of(entries: Iterable[str]) -> tuple[HostEntry, ...]:
    """The entries as written in the configuration; raises `UsageError` for one that makes no sense."""
    return tuple(_host(entry) for entry in entries)


def _host(entry: str) -> HostEntry:
    found = _ENTRY.fullmatch(entry.strip().lower())
    name = found[2] if found else ""
    port = int(found[3]) if found and found[3] else None
    is_literal = bool(address_of(name))
    is_name = bool(_NAME.fullmatch(name)) and not re.fullmatch(r"[0-9.]+", name)
    is_broad = bool(found and found[1]) and (is_literal or "." not in name)
    if not (is_literal or is_name) or is_broad or (port is not None and not 0 < port < 65536):
        raise UsageError(
            f"{entry!r} is not a host that can be allowed",
            "write example.org, example.org:8443 or *.example.org",
        )
    return HostEntry(name, port, bool(found and found[1]))


def target_of(text: str, default_port: int | None = None) -> tuple[str, int] | None:
    """`host:port` of a request; None if it is not plainly that."""
    if default_port is not None and not re.search(r":\d+$", text):
        text = f"{text}:{default_port}"
    found = _TARGET.fullmatch(text.lower())
    if not found or not 0 < int(found[2]) < 65536:
        return None
    name = found[1]
    return (name, int(found[2])) if address_of(name) or _NAME.fullmatch(name) else None


def entry_for(hosts: Iterable[HostEntry], name: str, port: int) -> HostEntry | None:
    return next((host for host in hosts if host.covers(name, port)), None)
