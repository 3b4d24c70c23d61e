"""The HTTP API and the dashboard's files: the same queries and actions as the command line, for browsers.

The only package of the `ui` that imports aiohttp, and only when a server starts.
"""
