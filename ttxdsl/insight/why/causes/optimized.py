"""What each optimization of collectives does, in a few words."""

from xdsl.ir import Operation

from ttxdsl.analysis.attribution.origins import optimizations

OPTIMIZED = {
    "known-branches": "stood in a branch that is always taken",
    "same-values": "serves all who want the same of the same values",
    "out-of-branches": "is what every branch would do, once for all of them",
    "ahead-of-loops": "does once ahead of a loop what each turn would do alike",
    "behind-loops": "combines once behind a loop what it only accumulates",
    "late-sums": "combines late what was partial: sums of it, or less of it, at once",
    "early-slices": "leaves each device the part that its users want",
    "small-sums": "combines parts ahead of what is done along other axes",
    "joined-collectives": "sends at once what does not wait for each other",
    "joined-permutes": "sends at once what different devices send, or places side by side",
    "joined-sums": "combines along several axes at once",
    "cheap-gathers": "gathers where the value is smallest, once for all who want it",
    "parts-of-parts": "leaves each device the part of its part that its users want",
    "read-places": "sends only the places that slices read",
    "cheap-exchanges": "exchanges where the value is smallest, once for all",
    "gathered-products": "moves the operands of a product, which are smaller, instead of"
    " summing products",
    "scattered-products": "sums products, which are smaller, instead of gathering what they"
    " are made of",
    "turned-products": "gathers a side of a product instead of exchanging the product",
    "small-permutes": "sends what the value is made of",
}
"""What an optimization does, by its name."""


def optimized_text(op: Operation) -> tuple[str, ...]:
    """What optimizations made a collective be where and what it is, the last first."""
    return tuple(
        f"optimize-collectives made it, {name}: {OPTIMIZED[name]}"
        for name in optimizations(op.location)
    )
