"""The op declarations that ttir and ttnn share, by family.

A declaration has an op's inputs, properties, results, meaning and constraints, in the
order of any xDSL op, but it belongs to no dialect. `ttir.py` and `ttnn.py` derive their
ops from it and a base of their own, which adds the dialect's part: destinations in
ttir, device handles and links in ttnn. A new op is declared in its family's file and
named in the dialects that have it; an elementwise op or a reduction is one line of its
table.
"""
