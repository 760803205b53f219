"""What a program on a mesh really costs: compile it and count.

Bytes by the ring model (`ttxdsl.sharding.cost`), memory by
`ttxdsl.reporting.memory`, time by a machine of stated speed: an op takes as long as its
operations or as reading and writing its values, whichever is longer, and a collective
what the alpha-beta model says (`ttxdsl.sharding.links`). All come one after the other,
nothing is fused and a loop's body counts once, so the time compares meshes and predicts
nothing.
"""

from collections import Counter
from dataclasses import dataclass, replace
from math import isfinite, prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.doctoring.groups import value_bytes
from ttxdsl.doctoring.meshes import Candidate, apply_candidate
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.run import entry_function
from ttxdsl.ir.tensors import shape_of
from ttxdsl.program import make_context
from ttxdsl.remarks import collect_remarks
from ttxdsl.reporting.collectives import COLLECTIVE_OPS, list_collectives
from ttxdsl.reporting.memory import memory_profile
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.links import DEFAULT_LINK, Link
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_FREE = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("bitcast_convert", "constant", "optimization_barrier", "partition_id"),
        *("reshape", "replica_id", "return", "tuple", "get_tuple_element"),
        *("case", "if", "while"),
    )
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What a device and its link do in a second: round figures, not a chip's.

    Raises:
        ValueError: the speed is not positive.
    """

    operations_per_second: float = 5e13
    """Multiply-adds, or elements of anything else."""
    memory_bytes_per_second: float = 3e11
    """What a device reads and writes."""
    link: Link = DEFAULT_LINK

    def __post_init__(self) -> None:
        for speed in (self.operations_per_second, self.memory_bytes_per_second):
            if not (isfinite(speed) and speed > 0):
                raise ValueError(f"a device does more than 0 a second, not {speed}")

    def seconds(self, operations: int, bytes_touched: int) -> float:
        """The time of one op: computing or memory, whichever takes longer."""
        return max(
            operations / self.operations_per_second,
            bytes_touched / self.memory_bytes_per_second,
        )

    def __str__(self) -> str:
        """`5e+13 multiply-adds/s, memory 300 GB/s, link 12.5 GB/s, 1 us`."""
        memory = self.memory_bytes_per_second / 1e9
        return (
            f"{self.operations_per_second:g} multiply-adds/s, memory {memory:g} GB/s,"
            f" link {self.link}"
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one device does and holds, counted in its compiled program.

    `warnings` are what the compiler computes on every device against the shardings.
    """

    operations: int
    bytes_sent: int
    collectives: tuple[tuple[str, int], ...]
    link_seconds: float
    compute_seconds: float
    peak_bytes: int
    argument_bytes: int
    warnings: int = 0

    @property
    def seconds(self) -> float:
        """Computing and sending, one after the other."""
        return self.compute_seconds + self.link_seconds


def operations_of(module: ModuleOp) -> int:
    """Multiply-adds of products, and elements of everything else that computes.

    An op does the product of its rule's factors; without a rule, the elements of its
    results. Constants, reshapes and collectives do none; a loop's body counts once.
    """
    return sum(_operations(op) for op in module.walk() if _computes(op))


def _computes(op: Operation) -> bool:
    if not op.name.startswith(("stablehlo.", "chlo.")):
        return False
    return op.name not in _FREE and op.name not in COLLECTIVE_OPS


def _bytes_touched(op: Operation) -> int:
    return sum(value_bytes(value) for value in (*op.operands, *op.results))


def _operations(op: Operation) -> int:
    rule = sharding_rule(op)
    if rule is not None:
        return prod(rule.factor_sizes)
    return sum(prod(shape_of(result)) for result in op.results)


def measure(module: ModuleOp, machine: Machine) -> Measurement:
    """Count a program that is partitioned.

    Raises:
        CompileError: its memory is not known, see `memory_profile`.
    """
    collectives = list_collectives(module)
    memory = memory_profile(module)
    compute_seconds = sum(
        machine.seconds(_operations(op), _bytes_touched(op))
        for op in module.walk()
        if _computes(op)
    )
    link_seconds = sum(
        machine.link.seconds_of_bytes(one.ring, one.bytes_per_device, one.group_size)
        for one in collectives
    )
    kinds = Counter(one.kind for one in collectives)
    return Measurement(
        operations=operations_of(module),
        bytes_sent=sum(one.bytes_per_device for one in collectives),
        collectives=tuple(sorted(kinds.items())),
        link_seconds=link_seconds,
        compute_seconds=compute_seconds,
        peak_bytes=memory.peak_bytes,
        argument_bytes=memory.argument_bytes,
    )


def compile_candidate(
    module: ModuleOp, candidate: Candidate, machine: Machine
) -> Measurement | str:
    """Compile a copy of a program for a candidate and count.

    Returns:
        What it costs, or why the compiler refuses it.
    """
    copy = module.clone()
    try:
        apply_candidate(copy, entry_function(copy), candidate)
        copy.verify()  # local shapes of a manual computation hold for one mesh only
        with collect_remarks() as remarks:
            TTStableHLOPipelinePass().apply(make_context(), copy)
        copy.verify()
        found = measure(copy, machine)
    except CompileError as error:
        return error.message.partition("\n")[0]
    except DiagnosticException as error:
        return str(error).strip().partition("\n")[0]
    warnings = sum(remark.severity == "warning" for remark in remarks)
    return replace(found, warnings=warnings)
