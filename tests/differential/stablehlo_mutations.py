"""Random changes to valid uses of ops: sizes, ranks, element types, numbers, counts."""

import random
import re

from tests.catalogue.use import Use
from tests.catalogue.uses import USES

ELEMENTS = (
    "f32", "f64", "bf16", "f16", "f8E4M3FN", "i1", "i4", "i8", "i32", "i64", "ui8", "ui32",
    "complex<f32>", "complex<f64>", "index", "i7",
)  # fmt: skip
_TENSOR = re.compile(r"tensor<((?:[0-9?]+x)*)([a-z][A-Za-z0-9]*|complex<f\d+>)>")
_NUMBER = re.compile(r"(?<![\w.%#^])-?\d+(?![\w.])")


def mutate_type(rng: random.Random, text: str) -> str:
    """Change one tensor type: a size, the rank, or the elements."""
    found = list(_TENSOR.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    sizes = [one for one in match[1].split("x") if one]
    element = match[2]
    change = rng.randrange(6)
    if change == 0 and sizes:
        del sizes[rng.randrange(len(sizes))]
    elif change == 1:
        sizes.insert(rng.randint(0, len(sizes)), str(rng.randint(0, 4)))
    elif change == 2:
        element = rng.choice(ELEMENTS)
    elif change == 3 and sizes:
        sizes[rng.randrange(len(sizes))] = "?"
    elif change == 4 and len(sizes) > 1:
        rng.shuffle(sizes)
    elif sizes:
        place = rng.randrange(len(sizes))
        old = sizes[place]
        new = rng.choice([0, 1, 2, 3, int(old) + 1 if old != "?" else 5])
        sizes[place] = str(new)
    new_type = f"tensor<{''.join(f'{one}x' for one in sizes)}{element}>"
    return text[: match.start()] + new_type + text[match.end() :]


def mutate_number(rng: random.Random, text: str) -> str:
    """Change one number of the properties, or how many a list has."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    old = int(match.group())
    change = rng.randrange(4)
    if change < 2:
        new = str(rng.choice([old + 1, old - 1, 0, 1, 2, 3, -1]))
    elif change == 2:
        new = f"{old}, {rng.randint(-1, 3)}"
    else:
        end = match.end()
        if text[end : end + 2] == ", ":
            return text[: match.start()] + text[end + 2 :]
        return text[: match.start()] + str(old + 2) + text[end:]
    return text[: match.start()] + new + text[match.end() :]


def mutate(rng: random.Random, use: Use) -> Use:
    """A use with one to three random changes; it may still be valid."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.randrange(8)
        if kind <= 1 and use.operands:
            place = rng.randrange(len(use.operands))
            new = mutate_type(rng, use.operands[place])
            values = use.values
            if values is not None:
                values = values.replace(
                    f"%{place}: {use.operands[place]}", f"%{place}: {new}"
                )
            operands = (*use.operands[:place], new, *use.operands[place + 1 :])
            use = use.but(operands=operands, values=values)
        elif kind <= 3 and use.results:
            place = rng.randrange(len(use.results))
            new = mutate_type(rng, use.results[place])
            use = use.but(
                results=(*use.results[:place], new, *use.results[place + 1 :])
            )
        elif kind <= 5 and use.props:
            use = use.but(props=mutate_number(rng, use.props))
        elif kind == 6 and use.regions:
            place = rng.randrange(len(use.regions))
            old = use.regions[place]
            types = sorted({m.group() for m in _TENSOR.finditer(old)})
            if types:
                one = rng.choice(types)
                new = old.replace(one, mutate_type(rng, one))
                use = use.but(
                    regions=(*use.regions[:place], new, *use.regions[place + 1 :])
                )
        elif kind == 7:
            drop = rng.randrange(3)
            if drop == 0 and use.operands and use.values is None:
                use = use.but(operands=use.operands[:-1])
            elif drop == 1 and use.results:
                use = use.but(results=use.results[:-1])
            elif use.before:
                use = use.but(before=mutate_number(rng, use.before))
    return use


def mutations(seed: int, count: int) -> list[Use]:
    """So many changed uses, the same ones for the same seed."""
    rng = random.Random(seed)
    chosen = sorted(USES)
    return [mutate(rng, USES[rng.choice(chosen)]) for _ in range(count)]
