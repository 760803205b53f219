"""The order of kernels of a compiler that starts each as soon as it can: breadth first.

XLA for CPUs takes it so that kernels run beside each other (`BFScheduler`): a queue of what is ready, in
which each that is taken out adds its users that now are. So what needs little is made long before
somebody reads it, and buffers of zeros for gradients are there from the start.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Sequence

from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from ttxdsl.ir.traversal import operands_in


def breadth_first(
    ops: Sequence[Operation], inside: Collection[Operation]
) -> list[Operation]:
    """Return ops in the order in which their kernels run, each behind what it computes inside.

    Args:
        ops: of a block, each behind what it needs.
        inside: those that are computed in others' kernels.
    """
    position = {op: at for at, op in enumerate(ops)}
    parts: dict[Operation, list[Operation]] = {}
    needs: dict[Operation, set[Operation]] = {}
    users: defaultdict[Operation, list[Operation]] = defaultdict(list)
    for op in ops:
        if op not in inside:
            kernel, pending = {op}, [op]
            needs[op] = set()
            while pending:
                for value in operands_in(pending.pop()):
                    maker = value.owner
                    if not isinstance(maker, Operation) or maker not in position:
                        continue
                    if maker not in inside:
                        needs[op].add(maker)
                    elif maker not in kernel:
                        kernel.add(maker)
                        pending.append(maker)
            parts[op] = sorted(kernel, key=position.__getitem__)
            needs[op].discard(op)
            for maker in needs[op]:
                users[maker].append(op)
    ends = [op for op in parts if op.has_trait(IsTerminator)]
    ready = deque(op for op in parts if not needs[op] and op not in ends)
    ordered: dict[Operation, None] = {}
    while ready:
        op = ready.popleft()
        ordered |= dict.fromkeys(parts[op])
        for user in users[op]:
            needs[user].discard(op)
            if not needs[user] and user not in ends:
                ready.append(user)
    for op in ends:
        ordered |= dict.fromkeys(parts[op])
    return list(ordered)
