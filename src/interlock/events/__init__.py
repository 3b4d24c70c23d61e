"""Facts, and the fold that turns them into State.

The log of facts is the only truth; State is what it adds up to. Pure: the time is a fact's own time, and a
fact that comes too late stays in the log and changes nothing.
"""
