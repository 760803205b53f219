"""The effect of each optimization of collectives, in a few words."""

from xdsl.ir import Operation

from ttxdsl.analysis.attribution.origins import optimizations

OPTIMIZED = {
    "collective-cse": "stands for equal collectives of the same operands",
    "hoist-collectives": "runs once before a loop instead of in each iteration",
    "sink-collectives": "reduces once after a loop what its iterations accumulate",
    "sink-all-reduces": "sums partial values where the fewest bytes are sent",
    "hoist-slices": "gives each device only the part that is used",
    "combine-collective-permutes": "sends at once what several permutes would send",
    "combine-collectives": "sends at once what does not wait for each other",
    "combine-all-reduces": "reduces along several axes at once",
    "move-all-gathers": "gathers where the value is smallest, once for all uses",
    "narrow-all-gathers": "sends only the places that slices read",
    "move-all-to-alls": "exchanges where the value is smallest, once for all uses",
    "gather-product-operands": "moves the operands of a product, which are smaller than"
    " its partial sums",
    "reduce-scatter-products": "sums products, which are smaller than the operands that"
    " would be gathered",
}
"""The effect of each optimization of collectives, by its name."""


def optimized_text(op: Operation) -> tuple[str, ...]:
    """Return the optimizations that made or moved a collective, the last first."""
    return tuple(
        f"optimize-collectives made it, {name}: {OPTIMIZED[name]}"
        for name in optimizations(op.location)
    )
