"""Checked facts: everything that a person does to a project, for the command line and every other interface.

An action refuses what is not possible with a `UserError`, then writes its facts. The caller opens the store
and says who acts.
"""
