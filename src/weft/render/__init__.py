"""Events and documents -> what a person reads: live terminal, plain lines, tables, graphs. Pure: no clock, no I/O.

A face folds events with `view`, shows them with `terminal` or `plain`, and decides nothing. Whatever came from a model,
an artifact or a file goes through `cells.clean` before it reaches a screen.
"""
