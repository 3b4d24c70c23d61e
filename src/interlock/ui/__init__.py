"""Everything that people and programs see. It reads State, adds facts, and decides nothing.

`words` makes sentences, `queries` documents, `actions` facts; `cli` prints. Imports go down only:
`cli > actions > queries > words > reading`.
"""
