"""What the log teaches about time, cost and conflicts. Pure: it reads State and returns numbers.

Empty in this version; its contents belong to a later issue.
"""
