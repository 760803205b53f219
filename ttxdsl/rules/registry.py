"""The sharding rule of any op: who knows it, and what was already worked out.

Whoever comes first in this order answers:

1. the op itself, by an attribute `sdy.sharding_rule`;
2. a rule registered from Python with `register_sharding_rule`;
3. the tables of this package, one a family of ops;
4. a `ShardingRuleTrait` of the op's class.

Source: Shardy's sharding rule registry. Every StableHLO op without a line in the tables
has no rule there either.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from xdsl.ir import Attribute, Operation

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.sdy import SHARDING_RULE, OpShardingRuleAttr
from ttxdsl.dialects.stablehlo import CustomCallOp
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.rules import (
    collective,
    contraction,
    creation,
    custom_call,
    data_movement,
    elementwise,
    gather_scatter,
    normalization,
    reduction,
    windowed,
)
from ttxdsl.rules.builder import Shapes, assemble
from ttxdsl.rules.interface import ShardingRuleTrait
from ttxdsl.rules.quantized import kept_whole, quantized_elements
from ttxdsl.rules.table import OpRule
from ttxdsl.sharding.factors import OpShardingRule

# rules as text are rare, and programs without start faster
if TYPE_CHECKING:
    from ttxdsl.rules.registered import RuleText

RULES: dict[type[Operation], OpRule] = {
    line.op_class: line
    for family in (
        collective,
        contraction,
        creation,
        custom_call,
        data_movement,
        elementwise,
        gather_scatter,
        normalization,
        reduction,
        windowed,
    )
    for line in family.RULES
}
"""The rules of ttxdsl's own ops."""

RuleOfOp = Callable[[Operation], OpShardingRule | str | None]
"""A user's function from an op to its rule, as data or as text; None for no rule."""

OpT = TypeVar("OpT", bound=Operation)
RuleFunctionT = TypeVar("RuleFunctionT", bound=Callable[[Any], Any])


class _Registration(NamedTuple):
    """A rule that a user registered for a class of ops."""

    rule: "RuleText | RuleOfOp"
    elementwise: bool | Callable[[Any], bool]


_registered: dict[type | str, _Registration] = {}
_remembered: dict[Hashable, OpShardingRule | None] = {}
_MOST_REMEMBERED = 1 << 16


def sharding_rule(
    op: Operation, *, conservative: bool = False
) -> OpShardingRule | None:
    """Return the sharding rule of `op`.

    Args:
        conservative: whether to leave out factors whose sharding might not divide a
            dimension (Shardy's `conservative-propagation`).

    Returns:
        The rule, or None if nothing is known of the op, or its values should not be
        partitioned through it, or its shapes are not static.

    Raises:
        CompileError: if a rule that a user wrote does not fit the op.
    """
    attribute = op.attributes.get(SHARDING_RULE)
    if isinstance(attribute, OpShardingRuleAttr):
        return _checked(op, attribute.data)
    if _registered and (told := _registration(op)) is not None:
        return _from_user(op, told.rule)
    line = RULES.get(type(op))
    if line is not None:
        return _from_table(op, line, conservative)
    trait = op.get_trait(ShardingRuleTrait)
    if trait is None or Shapes.of(op) is None:
        return None
    rule = trait.sharding_rule(op, conservative=conservative)
    return None if rule is None else _checked(op, rule)


def has_no_rule(op: Operation) -> bool:
    """Whether nothing is known of any op of its class, so that none need be asked."""
    return (
        type(op) not in RULES
        and not _registered
        and SHARDING_RULE not in op.attributes
        and op.get_trait(ShardingRuleTrait) is None
    )


def _from_table(
    op: Operation, line: OpRule, conservative: bool
) -> OpShardingRule | None:
    shapes = Shapes.of(op)
    if shapes is None:
        return None
    key = (
        line.op_class,
        conservative,
        shapes,
        tuple(op.properties.items()),
        line.surroundings(op) if line.surroundings else None,
        quantized_elements(op),
    )
    try:
        return _remembered[key]
    except KeyError:
        factors = line.factors(op, conservative)
        rule = None if factors is None else assemble(shapes, kept_whole(op, factors))
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[key] = rule
        return rule


@dataclass(frozen=True, slots=True, eq=False)
class OpSignature:
    """Facts that all ops of one class with the same types and properties share."""

    rule: OpShardingRule | None
    """How such ops may be partitioned."""


class Signatures:
    """The signature of each op of a module, for a pass that asks for many.

    Types and properties are numbered, equal ones alike, each object once: whoever meets
    it again looks its number up by identity, which costs a tenth of hashing its value.
    What was numbered is kept alive, so that identities stay what they are: do not keep
    this for longer than a pass.
    """

    def __init__(self, *, conservative: bool = False):
        self._conservative = conservative
        self._known: dict[tuple[object, ...], OpSignature] = {}
        self._known_by_id: dict[tuple[object, ...], OpSignature] = {}
        self._number_of_id = IdentityMemo[int]()
        self._number_of_value: dict[Attribute, int] = {}

    def of(self, op: Operation) -> OpSignature:
        """Return the signature of an op, the same object for ops with the same one.

        Raises:
            CompileError: see `sharding_rule`.
        """
        if SHARDING_RULE in op.attributes:
            return self._find(op)
        properties, results = op.properties, op.results
        # types first: of results, then of operands
        objects = [value.type for value in results]
        for operand in op._operands:  # pyright: ignore[reportPrivateUsage]  # no call
            objects.append(operand.type)
        objects += properties.values()
        # almost always the same objects as before
        identities = (type(op), len(results), *properties, *map(id, objects))
        known = self._known_by_id.get(identities)
        if known is None:
            start = type(op), len(results), *properties
            key = start, *map(self._number, objects)
            known = self._known.get(key)
            if known is None:
                known = self._find(op)
            if _follows_from_signature(op):
                self._known_by_id[identities] = self._known[key] = known
        return known

    def _number(self, attribute: Attribute) -> int:
        """Return the number of an attribute, which from now on is kept alive."""
        number = self._number_of_id.get(id(attribute))
        if number is None:
            number = self._number_of_value.setdefault(
                attribute, len(self._number_of_value)
            )
            self._number_of_id.keep(id(attribute), number, attribute)
        return number

    def _find(self, op: Operation) -> OpSignature:
        return OpSignature(sharding_rule(op, conservative=self._conservative))


def _follows_from_signature(op: Operation) -> bool:
    """Whether the rule of an op follows from its class, types and properties."""
    line = RULES.get(type(op))
    told = _registered and _registration(op) is not None
    return line is not None and line.surroundings is None and not told


def is_registered_elementwise(op: Operation) -> bool:
    """Whether an op is registered as elementwise."""
    told = _registration(op) if _registered else None
    if told is None or isinstance(told.elementwise, bool):
        return told is not None and told.elementwise is True
    return told.elementwise(op)


def registered_call_rule(op: CustomCallOp) -> OpShardingRule | None:
    """Return the rule that is registered for the target of a call."""
    told = _registered.get(op.call_target_name.data) if _registered else None
    return None if told is None else _from_user(op, told.rule)


def _registration(op: Operation) -> _Registration | None:
    """Return the registration of the target, the class, or the nearest base class."""
    if isinstance(op, CustomCallOp) and op.call_target_name.data in _registered:
        return _registered[op.call_target_name.data]
    for base in type(op).__mro__:
        if base in _registered:
            return _registered[base]
    return None


def _from_user(op: Operation, written: "RuleText | RuleOfOp") -> OpShardingRule | None:
    if callable(written):
        answer = written(op)
        if answer is None or isinstance(answer, OpShardingRule):
            return None if answer is None else _checked(op, answer)
        written = _parsed(answer, op)
    shapes = Shapes.of(op)
    if shapes is None:
        return None
    try:
        return _matched(written, shapes)
    except ValueError as error:
        raise CompileError(
            f"sharding rule '{written.text}' does not fit: {error}",
            op,
            hint="correct the rule that is registered for this op class",
        ) from error


def _checked(op: Operation, rule: OpShardingRule) -> OpShardingRule:
    """`rule`, if it is one for tensors of the op's ranks."""
    shapes = Shapes.of(op)
    fault = "shapes are not static" if shapes is None else _fault(rule, shapes)
    if fault is not None:
        raise CompileError(
            f"sharding rule '{rule}' does not fit: {fault}",
            op,
            hint="give every dimension of every operand and result a factor",
        )
    return rule


@lru_cache(maxsize=1 << 12)
def _fault(rule: OpShardingRule, shapes: Shapes) -> str | None:
    try:
        rule.check(shapes.operands, shapes.results)
    except ValueError as error:
        return str(error)
    return None


@lru_cache(maxsize=1 << 12)
def _matched(written: "RuleText", shapes: Shapes) -> OpShardingRule:
    return written.match(shapes)


@lru_cache(maxsize=1 << 12)
def _parse(text: str) -> "RuleText":
    from ttxdsl.rules.registered import RuleText

    return RuleText.parse(text)


def _parsed(text: str, op: Operation | None = None) -> "RuleText":
    try:
        return _parse(text)
    except ValueError as error:
        from ttxdsl.rules.registered import EXAMPLE

        raise CompileError(
            f"cannot read the sharding rule '{text}': {error}",
            op,
            hint=f"write it as '{EXAMPLE}'",
        ) from error


def register_sharding_rule(
    op_class: type[OpT] | str,
    rule: str | Callable[[OpT], OpShardingRule | str | None],
    *,
    elementwise: bool | Callable[[OpT], bool] = False,
    replace: bool = False,
) -> None:
    """Tell how all ops of a class, and of those derived from it, may be partitioned.

    A text that fits all ops of the class, whatever their ranks, is enough for many:

        register_sharding_rule(SquareOp, "([...])->([...])")
        register_sharding_rule(MatmulOp, "([..., i, k], [..., k, j])->([..., i, j]) reduction={k}")

    Where the rule depends on attributes, a function answers with the rule, with its
    text, or with None:

        @sharding_rule_of(TransposeOp)
        def transpose(op: TransposeOp) -> str: ...

    Of a custom call, the target says what is computed: a rule for it, which is what its
    devices can share out as well, is registered by its name.

    Args:
        op_class: the class, or the target of custom calls.
        rule: its rule, or a function that answers with one.
        elementwise: whether each element of a result depends on the operands' elements
            there alone, or a function that tells it of an op. Such ops propagate first.
        replace: whether to use this instead of what is known already.

    Raises:
        CompileError: if the text cannot be read, or the class has a rule already
            and `replace` is not set. That a rule fits is checked op by op, later.
    """
    named = isinstance(op_class, str)
    known = op_class in (custom_call.TARGETS if named else RULES)
    if (known or op_class in _registered) and not replace:
        name = f"custom call @{op_class}" if named else f"op class {op_class.__name__}"
        raise CompileError(
            f"{name} has a sharding rule already",
            hint="pass replace=True to use yours instead",
        )
    written = _parsed(rule) if isinstance(rule, str) else cast(RuleOfOp, rule)
    _registered[op_class] = _Registration(written, elementwise)


def sharding_rule_of(
    op_class: type[OpT] | str,
    *,
    elementwise: bool | Callable[[OpT], bool] = False,
    replace: bool = False,
) -> Callable[[RuleFunctionT], RuleFunctionT]:
    """Register the decorated function as the rule of `op_class`.

    See `register_sharding_rule`.
    """

    def register(function: RuleFunctionT) -> RuleFunctionT:
        register_sharding_rule(
            op_class, function, elementwise=elementwise, replace=replace
        )
        return function

    return register


def unregister_sharding_rule(op_class: type[Operation] | str) -> None:
    """Forget what was registered for `op_class`; its own rule is back, if it has one."""
    _registered.pop(op_class, None)
