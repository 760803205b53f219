"""`sdy-user-priority-propagate`: dimensions of higher priority propagate first.

Source: Shardy's propagation passes documentation and sharding representation document
("Priorities").
"""

from dataclasses import replace

from ttxdsl.sharding.axes import sort_by_mesh
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import CLOSED_DIM, TensorSharding
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.op_priority import OpPriorityPropagatePass
from ttxdsl.transforms.shardy.save_module import save_module


def hold_back(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    """Return a sharding as it takes part in priority 0.

    Dimensions of lower priority are unsharded and closed, and their axes replicated
    so that nothing else takes them.
    """
    dims = tuple(
        CLOSED_DIM if dim.priority_or_default > 0 else dim.without_priority()
        for dim in sharding.dims
    )
    held = (
        axis
        for dim in sharding.dims
        if dim.priority_or_default > 0
        for axis in dim.axes
    )
    replicated = sort_by_mesh((*sharding.replicated, *held), mesh)
    return replace(sharding, dims=dims, replicated=replicated)


def release(
    current: TensorSharding, original: TensorSharding, priority: int
) -> TensorSharding:
    """Return a held back sharding with the dimensions of one priority put back."""
    released = [dim.priority_or_default == priority for dim in original.dims]
    dims = tuple(
        old.without_priority() if now else dim
        for dim, old, now in zip(current.dims, original.dims, released, strict=True)
    )
    axes = {
        axis
        for dim, now in zip(original.dims, released, strict=True)
        if now
        for axis in dim.axes
    }
    replicated = tuple(axis for axis in current.replicated if axis not in axes)
    return replace(current, dims=dims, replicated=replicated)


class UserPriorityPropagatePass(OpPriorityPropagatePass):
    """Propagate dimension shardings in the order of the priorities that users gave.

    A run of op-priority propagation with the dimensions of priority 0, then one more
    with those of each lower priority added.
    """

    name = "sdy-user-priority-propagate"

    def propagate(self, propagation: Propagation) -> None:
        """One run of the op priorities for each user priority."""
        graph = propagation.graph
        originals: dict[int, dict[int, TensorSharding]] = {}
        for place in graph.places_with_shardings():
            sharding = graph.sharding_of(place)
            assert sharding is not None, "these have one"
            for dim in sharding.dims:
                if dim.priority_or_default > 0:
                    at = originals.setdefault(dim.priority_or_default, {})
                    at[place] = sharding
            graph.replace(place, hold_back(sharding, graph.mesh_of(sharding)))
        super().propagate(propagation)
        done = 0
        for priority in sorted(originals):
            self._dump(propagation, f"propagation_after_user_priority_{done}")
            done = priority
            for place, original in originals[priority].items():
                current = graph.sharding_of(place)
                if current is not None:
                    graph.replace(place, release(current, original, priority))
            super().propagate(propagation)

    def _dump(self, propagation: Propagation, name: str) -> None:
        """Write how far propagation has come, with the rules it goes by."""
        if self.module_dump_directory:
            propagation.finish(keep_rules=True)
            module = propagation.module
            save_module(module, self.module_dump_directory, name, 0)
