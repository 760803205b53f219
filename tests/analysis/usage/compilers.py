"""Compilers for TPUs that keep nothing on the core, so that small programs have buffers."""

from dataclasses import replace

from ttxdsl.costs import compilers

TPU, TPU_MEGACORE, TPU_V6E = (
    replace(compiler, core_bytes=0)
    for compiler in (compilers.TPU, compilers.TPU_MEGACORE, compilers.TPU_V6E)
)
