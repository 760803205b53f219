"""Other ways in which exporters write shardings, each turned into sdy's own.

- `import_xla_sdy`: the pass, which does all of it where `signs` finds something;
- `frontend_attributes`: sdy's attributes as text, in XLA's frontend attributes;
- `hlo_shardings`: XLA's own shardings (GSPMD), and the mesh that they are over;
- `custom_calls`: constraints, results, groups and barriers as custom calls;
- `manual_computations`: `shard_map` as custom calls around what each device does.
"""
