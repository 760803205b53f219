"""Registration of the ops of ttir and ttnn: the modules here fill the table."""

from ttxdsl.dialects.ttir import TTIR
from ttxdsl.dialects.ttnn import TTNN
from ttxdsl.interpreters.ops.tt import (
    contraction as contraction,
    control_flow as control_flow,
    data_movement as data_movement,
    elementwise as elementwise,
    fused as fused,
    mesh as mesh,
)
from ttxdsl.interpreters.ops.tt.table import TABLE

for _op_class in (*TTIR.operations, *TTNN.operations):
    if (_register := TABLE.get(_op_class.mnemonic())) is not None:
        _register(_op_class)
