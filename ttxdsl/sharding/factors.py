"""Op sharding rules as data: which dimensions of which tensors belong together.

A factor is a sub-dimension. A rule maps every dimension of every operand and result
to factors, major to minor, like einsum text: `([i, k], [k, j])->([i, j])`.

Source: Shardy's `OpShardingRuleAttr` and its textual form.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

DimMapping = tuple[int, ...]
"""Factor indices of one dimension, major to minor; empty is the null mapping `*`."""

TensorMapping = tuple[DimMapping, ...]
"""One `DimMapping` a dimension of the tensor."""

_FIRST_SYMBOL = ord("i")
_LAST_LETTER = ord("z") - _FIRST_SYMBOL


def factor_symbol(factor: int) -> str:
    """Return the text of a factor: `i` to `z` for 0 to 17, then `z_1`, `z_2`, …"""
    if factor <= _LAST_LETTER:
        return chr(_FIRST_SYMBOL + factor)
    return f"z_{factor - _LAST_LETTER}"


def parse_dim_mapping(text: str) -> DimMapping:
    """Return the factors of one dimension's text, for example `(0, 1)` for `ij`.

    Raises:
        ValueError: if the text is not a sequence of factor symbols.
    """
    factors: list[int] = []
    if text == "*":
        return ()
    rest = text
    while rest:
        if not rest.startswith("z_"):
            factor = ord(rest[0]) - _FIRST_SYMBOL
            if not 0 <= factor <= _LAST_LETTER:
                raise ValueError(
                    f"expecting symbol from 'i' to 'z'. Received: '{rest[0]}'"
                )
            factors.append(factor)
            rest = rest[1:]
            continue
        number = re.match(r"z_(\d+)", rest)
        if number is None:
            raise ValueError(f"expecting integer after 'z_'. Received: '{rest}'")
        digits = number.group(1)
        if digits.startswith("0"):
            raise ValueError(
                "expecting positive integer without leading zeros. "
                f"Received: '{digits}'"
            )
        factors.append(int(digits) + _LAST_LETTER)
        rest = rest[number.end() :]
    return tuple(factors)


@dataclass(frozen=True, slots=True)
class OpShardingRule:
    """The sharding rule of an op. Factor groups hold sorted factor indices."""

    factor_sizes: tuple[int, ...]
    operands: tuple[TensorMapping, ...]
    results: tuple[TensorMapping, ...]
    reduction: tuple[int, ...] = ()
    need_replication: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    blocked: tuple[int, ...] = ()
    is_custom: bool = False

    @staticmethod
    def identity(shape: Sequence[int], operands: int = 1) -> "OpShardingRule":
        """The rule of `operands` tensors and one result of one shape, all alike."""
        mapping: TensorMapping = tuple((factor,) for factor in range(len(shape)))
        return OpShardingRule(tuple(shape), (mapping,) * operands, (mapping,))

    @property
    def tensors(self) -> tuple[TensorMapping, ...]:
        """The mappings of all operands, then of all results."""
        return self.operands + self.results

    def is_pass_through(self, factor: int) -> bool:
        """Whether sharding this factor alike everywhere needs no communication."""
        return not (
            factor in self.reduction
            or factor in self.need_replication
            or factor in self.permutation
        )

    def is_in_all_tensors(self, factor: int) -> bool:
        """Whether every tensor that has dimensions has this factor."""
        return all(
            any(factor in dim for dim in tensor) for tensor in self.tensors if tensor
        )

    def is_batching(self, factor: int) -> bool:
        """Whether the factor passes through and is in every tensor but scalars."""
        return self.is_pass_through(factor) and self.is_in_all_tensors(factor)

    @property
    def has_compound_dims(self) -> bool:
        """Whether some dimension consists of several factors."""
        return any(len(dim) > 1 for tensor in self.tensors for dim in tensor)

    def __str__(self) -> str:
        """Shardy's text between `#sdy.op_sharding_rule<` and `>`."""
        parts = [f"({_tensors(self.operands)})->({_tensors(self.results)})"]
        if self.factor_sizes:
            sizes = (f"{factor_symbol(f)}={n}" for f, n in enumerate(self.factor_sizes))
            parts.append(f"{{{', '.join(sizes)}}}")
        for label, factors in self._groups():
            if factors:
                symbols = ", ".join(factor_symbol(factor) for factor in factors)
                parts.append(f"{label}={{{symbols}}}")
        return " ".join(parts) + (", custom" if self.is_custom else "")

    def check(
        self,
        operand_shapes: Sequence[Sequence[int]],
        result_shapes: Sequence[Sequence[int]],
    ) -> None:
        """Check every constraint that Shardy puts on a rule of an op of these shapes.

        Raises:
            ValueError: naming the constraint and the operand, result or factor.
        """
        used = self._check_mappings("operand", self.operands, operand_shapes)
        in_results = self._check_mappings("result", self.results, result_shapes)
        for factor, size in enumerate(self.factor_sizes):
            if factor not in used and factor not in in_results:
                raise ValueError(
                    f"has factor {factor_symbol(factor)}={size} that isn't used in "
                    "operand and result mappings"
                )
        for _, factors in self._groups():
            self._check_group(factors)
        special = self.reduction + self.need_replication + self.permutation
        if len(set(special)) != len(special):
            raise ValueError(
                "a factor can only be in one of the reduction, need replication, or "
                "permutation factor sets"
            )
        if in_results.intersection(self.reduction):
            raise ValueError("reduction factor cannot be in result mappings")

    def _groups(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return (
            ("reduction", self.reduction),
            ("need_replication", self.need_replication),
            ("permutation", self.permutation),
            ("blocked_propagation", self.blocked),
        )

    def _check_mappings(
        self,
        kind: str,
        mappings: Sequence[TensorMapping],
        shapes: Sequence[Sequence[int]],
    ) -> set[int]:
        """Check the mappings of all operands or all results; the factors they use."""
        if len(shapes) != len(mappings):
            raise ValueError(
                f"number of {kind}s and mappings must match: "
                f"{len(shapes)} != {len(mappings)}"
            )
        if not mappings:
            raise ValueError(
                f"number of {kind}s mappings cannot be 0. Op sharding rules can only "
                "be defined on operations with at least one operand and result."
            )
        used: set[int] = set()
        for index, (mapping, shape) in enumerate(zip(mappings, shapes, strict=True)):
            where = f"{kind} - " if len(shapes) == 1 else f"{kind} {index} - "
            if any(size < 0 for size in shape):
                raise ValueError(where + "expected a tensor with a static shape")
            if len(mapping) != len(shape):
                raise ValueError(
                    f"{where}mapping rank must match: {len(mapping)} != {len(shape)}"
                )
            used |= self._check_tensor(where, mapping)
        return used

    def _check_tensor(self, where: str, mapping: TensorMapping) -> set[int]:
        used: set[int] = set()
        for dim in mapping:
            if not dim:
                raise ValueError(where + "dim mapping must have at least one factor")
            for factor in dim:
                if not 0 <= factor < len(self.factor_sizes):
                    raise ValueError(
                        f"{where}expecting factor indices to be within "
                        f"0<=...<num_factors; received: {factor}, "
                        f"num_factors: {len(self.factor_sizes)}"
                    )
                if factor in used:
                    raise ValueError(
                        where + "cannot reuse factors for the same tensor value"
                    )
                if self.factor_sizes[factor] == 1 and len(dim) > 1:
                    raise ValueError(
                        where + "dim mapping can't have a factor of size 1 if there "
                        "are multiple factors"
                    )
                used.add(factor)
        return used

    def _check_group(self, factors: tuple[int, ...]) -> None:
        if list(factors) != sorted(factors):
            raise ValueError("indices of special factors must be sorted")
        if len(set(factors)) != len(factors):
            raise ValueError("indices of special factors must be unique")
        if factors and factors[0] < 0:
            raise ValueError("index must be non-negative")
        if factors and factors[-1] >= len(self.factor_sizes):
            raise ValueError(
                f"index must be less than {len(self.factor_sizes)}, got: {factors[-1]}"
            )


def _tensors(mappings: Iterable[TensorMapping]) -> str:
    return ", ".join(
        f"[{', '.join(_dim(dim) for dim in mapping)}]" for mapping in mappings
    )


def _dim(mapping: DimMapping) -> str:
    return "".join(factor_symbol(factor) for factor in mapping) or "*"


_TENSORS = r"\(\s*((?:\[[^\[\]]*\]\s*,?\s*)*)\)"
_RULE = (
    rf"\s*{_TENSORS}\s*->\s*{_TENSORS}\s*"
    r"(?:\{(?P<sizes>[^{}]*)\})?\s*"
    r"(?:reduction\s*=\s*\{(?P<reduction>[^{}]*)\})?\s*"
    r"(?:need_replication\s*=\s*\{(?P<need_replication>[^{}]*)\})?\s*"
    r"(?:permutation\s*=\s*\{(?P<permutation>[^{}]*)\})?\s*"
    r"(?:blocked_propagation\s*=\s*\{(?P<blocked>[^{}]*)\})?\s*"
    r"(?P<custom>,\s*custom)?\s*"
)


def parse_rule(
    text: str, shapes: Sequence[Sequence[int]] | None = None
) -> OpShardingRule:
    """The rule that a text like `([i, k], [k, j])->([i, j]) {i=2, j=3, k=4}` means.

    Args:
        text: what stands between `#sdy.op_sharding_rule<` and `>`. Without
            `{i=…}` the factor sizes come from `shapes`.
        shapes: the shapes of all operands, then of all results.

    Raises:
        ValueError: if the text is malformed, or sizes are missing and the shapes
            do not determine them.
    """
    match = re.fullmatch(_RULE, text)
    if match is None:
        raise ValueError(
            f"malformed sharding rule: {text!r}; expected "
            "'([i, k], [k, j])->([i, j]) {i=2, j=3, k=4} reduction={k}'"
        )
    rule = OpShardingRule(
        factor_sizes=(),
        operands=_parse_tensors(match.group(1)),
        results=_parse_tensors(match.group(2)),
        reduction=_parse_factors(match["reduction"]),
        need_replication=_parse_factors(match["need_replication"]),
        permutation=_parse_factors(match["permutation"]),
        blocked=_parse_factors(match["blocked"]),
        is_custom=match["custom"] is not None,
    )
    if match["sizes"] is not None:
        return replace(rule, factor_sizes=_parse_sizes(match["sizes"]))
    if shapes is not None:
        return replace(rule, factor_sizes=_infer_sizes(rule, shapes))
    if any(dim for tensor in rule.tensors for dim in tensor):
        raise ValueError(f"sharding rule {text!r} has no factor sizes")
    return rule


def _parse_tensors(text: str) -> tuple[TensorMapping, ...]:
    return tuple(
        tuple(parse_dim_mapping(dim.strip()) for dim in tensor.split(","))
        if tensor.strip()
        else ()
        for tensor in re.findall(r"\[([^\[\]]*)\]", text)
    )


def _single_factor(text: str) -> int:
    factors = parse_dim_mapping(text.strip())
    if len(factors) != 1:
        raise ValueError(f"expecting single factor symbol: {text.strip()}")
    return factors[0]


def _parse_factors(text: str | None) -> tuple[int, ...]:
    if text is None or not text.strip():
        return ()
    return tuple(_single_factor(symbol) for symbol in text.split(","))


def _parse_sizes(text: str) -> tuple[int, ...]:
    sizes: list[int] = []
    for entry in text.split(",") if text.strip() else ():
        symbol, equals, size = entry.partition("=")
        factor = _single_factor(symbol)
        if factor != len(sizes):
            raise ValueError(
                "expecting factor indices to be ordered like an iota ([0,1,2,...], "
                "e.g. {i=#, j=#, ...}). Expecting factor index symbol "
                f"'{factor_symbol(len(sizes))}', received: '{symbol.strip()}'"
            )
        if not equals or not size.strip().isdecimal():
            raise ValueError(f"expected a size after '{symbol.strip()}='")
        sizes.append(int(size))
    return tuple(sizes)


def _infer_sizes(
    rule: OpShardingRule, shapes: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """Factor sizes from shapes: of plain dimensions, then the rest of compound ones."""
    dims = [
        (mapping, size)
        for tensor, shape in zip(rule.tensors, shapes, strict=True)
        for mapping, size in zip(tensor, shape, strict=True)
    ]
    sizes: dict[int, int] = {}
    unsolved = len(dims) + 1
    while dims and len(dims) < unsolved:
        unsolved = len(dims)
        dims = [
            (mapping, size)
            for mapping, size in dims
            if not _solve(mapping, size, sizes)
        ]
    count = 1 + max(
        (f for tensor in rule.tensors for dim in tensor for f in dim), default=-1
    )
    for factor in range(count):
        if factor not in sizes:
            raise ValueError(
                f"the shapes do not determine the size of factor {factor_symbol(factor)}; "
                "write all sizes as {i=…, j=…}"
            )
    return tuple(sizes[factor] for factor in range(count))


def _solve(mapping: DimMapping, size: int, sizes: dict[int, int]) -> bool:
    """Learn the one unknown factor of a dimension; whether nothing is left to learn."""
    unknown = [factor for factor in mapping if factor not in sizes]
    if len(unknown) > 1:
        return False
    known = prod(sizes[factor] for factor in mapping if factor in sizes)
    if unknown:
        if known == 0 or size % known:
            raise ValueError(
                f"dimension {_dim(mapping)} of size {size} is not a multiple of {known}"
            )
        sizes[unknown[0]] = size // known
    return True
