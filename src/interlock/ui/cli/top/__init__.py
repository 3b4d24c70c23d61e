"""`interlock top`: the inbox, the running tasks and each task with its diff, in the whole terminal.

It shows what the queries say and acts by the actions of the API. Only `screens` and `program` import Textual,
which is an extra; what they show is made in `desk`.
"""
