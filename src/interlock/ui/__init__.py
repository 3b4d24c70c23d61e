"""Everything that people and programs see. It reads State, adds facts, and decides nothing.

`words` makes sentences, `queries` documents, `actions` facts; `cli` prints, and `web` answers over HTTP.
Imports go down only: `cli > web > actions > queries > words > reading`.
"""
