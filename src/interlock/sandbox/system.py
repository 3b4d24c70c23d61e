"""Of the system's own files, what every program may read. No keys: what root starts could read even those."""

import sys

PYTHON: str = getattr(sys, "_base_executable", "") or sys.executable
"""The interpreter behind a virtual environment: it starts in two thirds of the time, and has all we need."""

ROOTS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Beside /usr; links into it on most systems."""

ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "python3",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
"""Files that programs look up in /etc."""

SYS = ("block", "bus", "class", "dev", "devices")
"""Folders of /sys with the hardware, read-only; not its settings for the kernel."""

NAMES = ("passwd", "group", "hosts", "nsswitch.conf")
"""Names of users and hosts. In the full sandbox these files are ours, and name no person."""

PROC = ("sys", "irq", "bus", "acpi", "mtrr", "sysrq-trigger")
"""Settings of the whole machine, to be read only: a program that root starts is root to them."""
