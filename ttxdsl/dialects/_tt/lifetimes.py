"""When memory of a tensor is given back: nothing may use it after that."""

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttxdsl.ir.traversal import all_ops

_DEALLOCATE = "ttnn.deallocate"


def verify_lifetimes(inside: Operation) -> None:
    """Check that no op of a block uses a tensor after its `ttnn.deallocate`.

    Raises:
        VerifyException: one does, a second deallocate included.
    """
    gone: set[SSAValue] = set()
    for op in all_ops(inside):
        for value in op.operands:
            if value in gone:
                raise VerifyException(
                    f"'{op.name}' uses a tensor that is deallocated before"
                )
        if op.name == _DEALLOCATE:
            gone.update(op.operands)
