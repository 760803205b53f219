"""At the border of the program, shard open dimensions by whole axes only."""

from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.call_graph import main_function
from ttxdsl.dialects import sdy
from ttxdsl.sharding.spec import DimSharding, TensorSharding


def with_whole_axes(sharding: TensorSharding) -> TensorSharding:
    """Return the sharding with open dimensions cut before their first sub-axis."""

    def whole(dim: DimSharding) -> DimSharding:
        if dim.closed:
            return dim
        return dim.with_axes(tuple(takewhile(lambda axis: axis.is_full, dim.axes)))

    return sharding.with_dims([whole(dim) for dim in sharding.dims])


class RemoveSubAxesInInputOutputShardingsPass(ModulePass):
    """Cut the shardings of the main function's arguments and results at sub-axes.

    Closed dimensions are kept, because users asked for them.
    """

    name = "sdy-remove-sub-axes-in-input-output-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if the module has several functions and none is `main`.
        """
        sdy.transform_func_shardings(
            main_function(op), lambda sharding, type: with_whole_axes(sharding)
        )
