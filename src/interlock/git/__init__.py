"""Workspaces, imports, merges in memory, and the compare-and-swap that moves main.

The only package that starts git. It never runs git with a git dir, a configuration or a hook that an agent
could have written.
"""
