"""Programs of hundreds of MiB a device, written by hand. They stand alone on purpose, as people write them.

`tpu.programs.steps.PROGRAMS` has each by name once its module is imported. Needs `jax`, `flax` and `optax`.
The sets that they were planned in are in `benchmarks/tpu/evidence/rows.csv`.
"""
