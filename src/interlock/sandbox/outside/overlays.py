"""Mounts an overlay, which the kernel shows to one mount namespace: the supervisor's, and what it starts.

Loaded by the supervisor. Standard library only, and little of it.
"""

import ctypes
import os

OPTIONS = "index=off,redirect_dir=nofollow,metacopy=off,userxattr"
"""The upper layer then holds whole files, at their own paths: it can be read without being mounted.

`userxattr`, for root too: the kernel then lets no program set the marks by which the layer is read.
"""


def mount(word: str) -> None:
    """`word` names, a line each: where to mount it, the upper layer, the work folder, the lower layers."""
    merged, upper, work, *lower = word.split("\n")
    layers = ":".join(map(escaped, lower))
    options = f"lowerdir={layers},upperdir={escaped(upper)},workdir={escaped(work)},{OPTIONS}"
    kernel = ctypes.CDLL(None, use_errno=True)
    place = os.fsencode(merged)
    if kernel.mount(b"overlay", place, b"overlay", ctypes.c_ulong(0), os.fsencode(options)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), merged)


def escaped(path: str) -> str:
    for sign in ("\\", ":", ","):
        path = path.replace(sign, f"\\{sign}")
    return path
