"""The op declarations that ttir and ttnn share, by family.

A declaration says an op's inputs, properties, results, meaning and constraints, in the
order of any xDSL op; it is no op yet. `ttir.py` and `ttnn.py` make one of it by naming
it beside their own base, which says what is the dialect's: destinations there, device
handles and links here. A new op is declared in its family's file and named in the
dialects that have it; an elementwise op or a reduction is one line of its table.
"""
