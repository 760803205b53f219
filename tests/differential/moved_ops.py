"""Programs whose ops stand elsewhere, or use values of elsewhere, at random."""

from __future__ import annotations

import random
import re

_ONE_LINE = re.compile(r" +(?:%|stablehlo\.|return|func\.return)[^{}]*$")


def move_a_line(rng: random.Random, text: str) -> str:
    """The text of a program with one op's line before another line of a body."""
    lines = text.split("\n")
    movable = [at for at, line in enumerate(lines) if _ONE_LINE.match(line)]
    if len(movable) < 2:
        return text
    at = rng.choice(movable)
    line = lines.pop(at)
    # mostly not far away, where it may stay right
    near = range(max(2, at - 6), min(len(lines) - 1, at + 6))
    lines.insert(rng.choice(near), line)
    return "\n".join(lines)


_TYPE = "tensor<4xf32>"


def random_blocks(rng: random.Random) -> str:
    """A function of several blocks, whose ops use any values of any of them.

    Most uses are of values that are defined there; blocks are written in any order,
    some are never reached, and some hold an op with regions.
    """
    count = rng.randint(1, 7)
    names = [f"b{index}" for index in range(1, count)]
    rng.shuffle(names)
    values: list[str] = ["%arg"]
    blocks: list[str] = []
    written: list[list[str]] = []
    for block in range(count):
        own: list[str] = []
        for index in range(rng.randint(0, 3)):
            used = [_pick(rng, block, index, count, values) for _ in range(2)]
            name = f"%v{block}_{index}"
            if rng.random() < 0.25:
                inner = rng.choice([*used, f"%i{block}_{index}"])
                own.append(
                    f'  {name} = "stablehlo.case"(%which) ({{\n'
                    f"    %i{block}_{index} = stablehlo.add {used[0]}, {used[1]} :"
                    f" {_TYPE}\n    stablehlo.return {inner} : {_TYPE}\n"
                    f"  }}) : (tensor<i32>) -> {_TYPE}"
                )
            else:
                own.append(f"  {name} = stablehlo.add {used[0]}, {used[1]} : {_TYPE}")
            values.append(name)
        written.append(own)
    for block, own in enumerate(written):
        targets = rng.sample(names, min(len(names), rng.choice([0, 1, 1, 2, 2])))
        match targets:
            case [one]:
                own.append(f"  cf.br ^{one}")
            case [one, other]:
                own.append(f"  cf.cond_br %yes, ^{one}, ^{other}")
            case _:
                own.append(f"  return {rng.choice(values)} : {_TYPE}")
        label = "" if block == 0 else f"^{names[block - 1]}:\n"
        blocks.append(label + "\n".join(own))
    entry, *others = blocks
    rng.shuffle(others)
    body = "\n".join([entry, *others])
    return (
        f"func.func @main(%arg: {_TYPE}, %yes: i1, %which: tensor<i32>) -> {_TYPE} {{\n"
        f"{body}\n}}\n"
    )


def _pick(
    rng: random.Random, block: int, index: int, count: int, values: list[str]
) -> str:
    """A value that came before, now and then any name."""
    if rng.random() < 0.9:
        return rng.choice(values[-3:]) if rng.random() < 0.5 else rng.choice(values)
    return f"%v{rng.randrange(count)}_{rng.randrange(3)}"
