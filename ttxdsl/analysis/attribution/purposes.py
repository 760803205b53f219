"""The purposes of a program's collectives, in a line each: FSDP, data parallelism, …

Read off the per-device program by the roles of what is sent (`ttxdsl.analysis.attribution.roles`):
parameters that are gathered along an axis along which gradients are summed are fully
sharded; where new parameters are gathered, the optimizer is (ZeRO).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.roles import Role, Roles, collective_roles
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.costs.ring import Ring
from ttxdsl.costs.units import bytes_text, listed
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Collective


@dataclass(frozen=True, slots=True)
class Purpose:
    """Collectives of one kind along the same axes that are there for the same.

    Attributes:
        why: `FSDP`, `ZeRO`, `data parallel`, `partial sums`, `gathered`, `moved`.
        of: what is sent, the text of a `Role`, or of several that are sent at once.
        count: how often they run.
        bytes: that a device sends for them.
    """

    why: str
    kind: str
    of: str
    axes: str
    count: int
    bytes: int

    def __str__(self) -> str:
        """`FSDP: 48 all_gathers of parameters over data, 6.1 MiB`."""
        kinds = f"{self.kind}s" if self.count != 1 else self.kind
        size = bytes_text(self.bytes)
        return f"{self.why}: {self.count} {kinds} of {self.of} over {self.axes}, {size}"


def purposes(
    module: ModuleOp,
    collectives: Sequence[CountedCollective],
    known: Sequence[tuple[Operation, Roles]] | None = None,
) -> tuple[Purpose, ...]:
    """Return the purposes of a program's collectives, those that send most first.

    Args:
        module: of one device.
        collectives: all of it, in program order.
        known: what `collective_roles` returned, if it was asked.
    """
    known = collective_roles(module) if known is None else known
    rows = [
        ((op, roles.of(op), roles), collective)
        for (op, roles), collective in zip(known, collectives, strict=True)
        if collective.is_priced
    ]
    # it is FSDP where gradients are summed along an axis that parameters are split by
    trained = _axes(
        collective for (_, role, _), collective in rows if role is Role.GRADIENTS
    )
    split, updated = (
        _axes(
            collective
            for (op, role, roles), collective in rows
            if isinstance(op, stablehlo.AllGatherOp)
            and role in (Role.PARAMETERS, Role.UPDATES)
            and roles.is_argument(op) is given
        )
        for given in (True, False)
    )
    groups: dict[tuple[str, str, str, str], list[CountedCollective]] = {}
    for (op, role, roles), collective in rows:
        fact = op.get_trait(Collective)
        match fact and fact.ring, role:
            case Ring.REDUCE_SCATTER, Role.GRADIENTS:
                along = _axes([collective])
                why = "ZeRO" if along & updated and not along & split else "FSDP"
            case Ring.ALL_REDUCE, Role.GRADIENTS:
                why = "data parallel"
            case Ring.REDUCE_SCATTER | Ring.ALL_REDUCE, _:
                why = "partial sums"
            case Ring.ALL_GATHER, Role.PARAMETERS | Role.UPDATES:
                if not roles.is_argument(op):
                    why = "ZeRO"
                else:
                    why = "FSDP" if _axes([collective]) & trained else "gathered"
            case Ring.ALL_GATHER, Role.ARGUMENTS | Role.OPTIMIZER_STATE:
                why = "gathered"
            case _:
                why = "moved"
        sent = listed([role.value for role in roles.all_of(op)])
        key = why, collective.kind, sent, collective.axes_text
        groups.setdefault(key, []).append(collective)
    lines = [
        Purpose(
            *key,
            sum(collective.count for collective in alike),
            sum(collective.bytes_per_device for collective in alike),
        )
        for key, alike in groups.items()
    ]
    return tuple(sorted(lines, key=lambda line: -line.bytes))


def _axes(collectives: Iterable[CountedCollective]) -> frozenset[str]:
    """The axes that any of some collectives runs along."""
    return frozenset(
        name
        for collective in collectives
        for name in collective.axis_names or (collective.axes_text,)
    )
