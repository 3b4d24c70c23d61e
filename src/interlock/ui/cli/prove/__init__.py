"""`interlock doctor --prove`: every mechanism shown firing on this machine, by the real command (D13)."""
