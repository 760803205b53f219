"""The answers of `why`, as data: every claim with the op, the place and the rule.

All answers are frozen and hold text and numbers only, so that they can be kept, compared
and written as JSON (`dataclasses.asdict`) after the modules they speak of are gone.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from ttxdsl.analysis.attribution.purposes import Purpose
from ttxdsl.analysis.calls.execution_counts import ONCE, Times
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.costs.units import listed
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import Frame, line_text, place_text
from ttxdsl.diagnostics.remarks import Remark


@dataclass(frozen=True, slots=True)
class Site:
    """An op or a value of the program that was given.

    Attributes:
        op: the op's name; `func.func` for arguments and results of the function.
        value: the name of the value in the text, `%42`, if one is meant.
        position: `file:line:col`, of the debug information if there is any.
        scope: JAX's name of what made it, `jit(step)/dot_general`, if it says.
        function: that the position is in, as JAX's traceback calls it.
    """

    op: str
    value: str | None = None
    position: str | None = None
    scope: str | None = None
    function: str | None = None
    words: str | None = None
    """What its author knows it as, of a loop with its line."""

    @property
    def shown(self) -> str:
        """The position for people, `train.py:33 in block`; nothing if there is none."""
        return place_text(self.position, self.function)

    def __str__(self) -> str:
        """`add %3 (train.py:33 in block)`, without the names of functions that JAX made."""
        if self.words:
            return self.words
        op = self.op.removeprefix("stablehlo.")
        is_told = self.position and self.value and self.value.startswith("@")
        value = f" {self.value}" if self.value and not is_told else ""
        place = f" ({self.shown})" if self.position else ""
        return f"{op}{value}{place}"


OriginKind = Literal[
    "argument", "result", "constraint", "manual computation", "op", "unknown"
]


@dataclass(frozen=True, slots=True)
class Origin:
    """The annotation that introduced an axis."""

    kind: OriginKind
    text: str
    place: Site
    index: int | None = None
    """Which argument, result, operand or constraint (in program order)."""

    @property
    def name(self) -> str:
        """`params['up']`, `constraint %7`, `result['up']`, `the shard_map at line 8 of f`."""
        name = self.place.value
        if self.kind == "argument":
            return self.place.scope or name or f"argument {self.index}"
        if self.kind == "result":
            return self.place.scope or f"result {self.index}"
        known = None
        if self.kind in ("constraint", "manual computation"):
            known = self.place.words
        if self.kind == "constraint" and self.place.position and self.place.function:
            line = line_text(Frame(self.place.function, self.place.position))
            known = known or f"constraint at {line}"
        return known or (f"{self.kind} {name}" if name else self.kind)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two shardings wanted what only one could have.

    Attributes:
        place: the op at which they met.
        axis: what they wanted; of a compatible prefix the axes of both sides.
        winner: what got it, with its origin.
        loser: what did not.
        rule: which rule decided: order, priority, the larger tensor, the prefix that
            all sides share.
        decided: whether one won; if not, both stay and neither goes on from there.
    """

    place: Site
    axis: str
    winner: str
    loser: str
    rule: str
    decided: bool = True

    def __str__(self) -> str:
        if not self.decided:
            return f"{self.winner} meets {self.loser} at {self.place}: {self.rule}"
        return f"{self.winner} won over {self.loser} at {self.place}: {self.rule}"


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of propagation by which an axis came nearer.

    Attributes:
        step: counts the steps that changed something, from 0.
        place: the op that it went through.
        axis: the axis, or the part of it that travelled.
        source: which operand or result had it, `operand 0 (%x) dimension 1`.
        target: which one got it.
        factor: the factor of the op's rule that both dimensions share, `k=128`.
        factor_kind: `pass-through`, `reduction`, `need-replication`, `permutation`.
        direction: `forward`, `backward`, or `across` from operand to operand.
        priority: which run of propagation made the step: strategy, op and user
            priority.
        conflicts: what wanted the same in this very step.
    """

    step: int
    place: Site
    axis: str
    source: str
    target: str
    factor: str
    factor_kind: str
    direction: Literal["forward", "backward", "across", "group"]
    priority: str
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class AxisCause:
    """Why one axis splits one dimension: the annotation, and the way from there.

    `steps` are in the order in which they happened: from the annotation to here. They may
    be thousands: a hash leaves them to the comparison.
    """

    dim: int
    axis: str
    origin: Origin
    steps: tuple[ChainStep, ...] = field(default=(), hash=False)


ObstacleKind = Literal[
    "blocked factor",
    "closed dimension",
    "conflict",
    "direction",
    "different meshes",
    "need-replication factor",
    "no op reached it",
    "no rule",
    "not divisible",
    "priorities ignored",
    "replicated axis",
    "uneven",
    "unreduced axis",
]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an axis does not split a dimension that it could.

    `upstream` is the dimension that it was lost at, of a value that would have handed it
    on; None if it was kept away from this one.
    """

    kind: ObstacleKind
    dim: int
    text: str
    axis: str | None = None
    place: Site | None = None
    conflict: Conflict | None = None
    upstream: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: its size, what splits it and why, and what does not and why not."""

    index: int
    size: int
    axes: tuple[str, ...]
    causes: tuple[AxisCause, ...]
    obstacles: tuple[Obstacle, ...]


@dataclass(frozen=True, slots=True)
class WhySharding(Displayed):
    """The sharding of a value after propagation, dimension by dimension.

    Attributes:
        name: of the value, `%42`, or `result 0` for a result of the function.
        place: the op that makes it.
        sharding: Shardy's text after propagation; None is replicated.
        final: the sharding in which the op really makes it, where stage 8 or uneven
            sizes changed it; else the same.
        copies: how often the function that it stands in was inlined; the answer is
            about the first.
    """

    name: str
    place: Site
    type: str
    sharding: str | None
    final: str | None
    dims: tuple[Dimension, ...]
    copies: int = 1
    notes: tuple[str, ...] = ()

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """All conflicts that decided about it, in steps and at obstacles."""
        conflicts: dict[Conflict, None] = {}
        for dim in self.dims:
            for cause in dim.causes:
                for step in cause.steps:
                    conflicts.update(dict.fromkeys(step.conflicts))
            for obstacle in dim.obstacles:
                if obstacle.conflict is not None:
                    conflicts[obstacle.conflict] = None
        return tuple(conflicts)


@dataclass(frozen=True, slots=True)
class Figures:
    """The costs of a compiled program for one device.

    Attributes:
        collectives: how many of each kind run.
        bytes: that a device sends for all of them, by the ring model.
        seconds: that they take one after the other, neighbours joined as the machine
            joins them.
        program_seconds: that the whole program takes, where computing and collectives
            overlap.
        peak_bytes: memory, see `ttxdsl.analysis.usage.memory`; None where it has no figure.
        operations: that a device does.
        repeated: those of them that go beyond its equal share of the whole program, since
            other devices do the same.
        guessed: what to say of loops whose count is not known; None if there are none.
        summed_bytes: the same bytes where each reduce_scatter is an all_reduce of which a
            device keeps a part, as XLA has it on CPUs.
    """

    collectives: tuple[tuple[str, int], ...]
    bytes: int
    seconds: float
    program_seconds: float
    peak_bytes: int | None
    operations: int
    repeated: int
    guessed: str | None = None
    summed_bytes: int = 0

    @property
    def launches(self) -> int:
        """The number of collectives that run."""
        return sum(count for _, count in self.collectives)

    def difference(self, base: "Figures") -> tuple[tuple[str, int], ...]:
        """Kinds of which there are more (positive) or fewer than in `base`."""
        mine, theirs = Counter(dict(self.collectives)), dict(base.collectives)
        mine.subtract(theirs)
        return tuple(sorted((kind, n) for kind, n in mine.items() if n))


ChangeKind = Literal[
    "constrain",
    "annotate argument",
    "annotate result",
    "remove constraint",
    "copy constant",
    "donate argument",
    "lay out mesh",
    "respell",
    "store argument",
]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the program that was given.

    Attributes:
        kind: what is done.
        value: the value that is constrained, or whose annotation or constraint it is.
        called: the value and those alike as the author calls them, where that is known.
        sharding: Shardy's text of the new sharding; None where one is taken away.
        position: where the value or constraint stands.
        user: of a copied constant the value that uses the copy.
        alike: what is annotated alike with an argument: the result that it becomes, and
            its optimizer state with what that becomes.
    """

    kind: ChangeKind
    value: str
    sharding: str | None = None
    position: str | None = None
    user: str | None = None
    alike: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "constrain":
                return f"{self.value} constrained to {self.sharding}"
            case "annotate argument" | "annotate result":
                name = listed(self.called or (self.value, *self.alike))
                if self.sharding is None:
                    return f"{name} without its annotation"
                return f"{name} annotated {self.sharding}"
            case "remove constraint":
                return f"the constraint {self.value} removed"
            case "copy constant":
                return f"a copy of {self.value} for {self.user}"
            case "donate argument":
                return f"{listed(self.called or (self.value, *self.alike))} donated"
            case "lay out mesh":
                return f"@{self.value} as {self.sharding}"
            case "respell":
                return f"{self.value} said otherwise"
            case "store argument":
                name = listed(self.called or (self.value, *self.alike))
                return f"{name} stored with dimensions of its parts"


_HARDLY, _REPEATED = 0.01, 0.25
"""Of a device's operations: so many more may be repeated by a change that is advice; with
more than the first the whole program must not take longer."""


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The program with changes, really compiled, beside the program as it is.

    `changes` are one, or two of which neither does it alone.
    """

    changes: tuple[Change, ...]
    base: Figures
    figures: Figures

    @property
    def text(self) -> str:
        """All changes: `%w annotated [{}, {}] and %x annotated [{}]`."""
        return " and ".join(map(str, self.changes))

    def removes(self, kind: str) -> bool:
        """Return True if there are fewer collectives of a kind, and not more in all."""
        fewer = dict(self.figures.difference(self.base)).get(kind, 0) < 0
        return fewer and self.figures.launches <= self.base.launches

    @property
    def repeated(self) -> int:
        """The additional operations that a device repeats of others."""
        return self.figures.repeated - self.base.repeated

    @property
    def helps(self) -> bool:
        """Whether collectives take less time, and devices do not repeat work for it."""
        if self.figures.seconds >= self.base.seconds:
            return False
        repeated = self.repeated / max(1, self.base.operations)
        slower = self.figures.program_seconds > self.base.program_seconds
        return repeated <= (_HARDLY if slower else _REPEATED)


@dataclass(frozen=True, slots=True)
class Necessity:
    """Annotations without which a collective is not there, each really taken away.

    One is necessary by itself. Of several any one brings the collective: it is gone only
    without all of them.

    Attributes:
        annotations: whose they are: `params['up']`.
        changes: that take them away.
        outcome: the program without them; None where only propagation and stage 8 were
            asked.
    """

    axis: str
    annotations: tuple[str, ...]
    changes: tuple[Change, ...]
    outcome: Counterfactual | None = None


Cause = Literal[
    "operand",
    "result",
    "reduction",
    "border",
    "return",
    "constraint",
    "local",
    "written",
]
"""What makes a collective necessary: an operand or a result of an op that is sharded
otherwise than the op can take or make it; a reduced dimension that is split; the border
of a region or manual computation; what the function returns; a sharding constraint; an
op that stage 11 cannot cut up; or it was written in the program."""


@dataclass(frozen=True, slots=True)
class Party:
    """One of the shardings that disagree, with where it comes from."""

    label: str
    dims: tuple[int, ...]
    value: str | None
    place: Site
    sharding: str | None
    causes: tuple[AxisCause, ...]
    obstacles: tuple[Obstacle, ...] = ()
    note: str | None = None
    known: str | None = None
    """The value by what its author knows: a path, or a line of a function."""


@dataclass(frozen=True, slots=True)
class JoinedPart:
    """The part of a joined collective that was one: what it moves, for which op, and why."""

    name: str
    op: Site
    origins: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WhyCollective(Displayed):
    """Why a collective of the per-device program is there.

    Attributes:
        number: in program order, from 0.
        kind: `all_gather`, `all_reduce`, …
        axes: the mesh axes by name.
        group_size: devices in a group.
        tensor: the local tensor that goes in.
        bytes: that each device sends in one run of the program.
        seconds: in one run, if it is alone.
        cause: what makes it necessary.
        op: the op of the program that needs it.
        dims: dimensions of the moved value; of the op's operand for a reduction, and
            where stage 11 sends what it computes of shards.
        summary: a few words, without the op and where it stands.
        reason: one sentence.
        details: sentences on each factor that disagrees.
        reshard: from which sharding to which, if it is part of a reshard.
        plan: the `sdy` collectives of that reshard, in order, or the one that stage 8
            inserted.
        sides: the shardings that disagree.
        tried: how many changes were compiled.
        failed: how many could not be compiled.
        untried: how many were not, for each takes long.
        counterfactuals: those that help, best first.
        necessary: the annotations without which it is not there; None if nobody tried.
        times: how often it runs.
        removal: the cheapest change that was compiled and removes it, if one does.
        needed: why there is none, with the bytes that it has to move at least.
        joined: what it moves beside, of one that several were joined to.
        line: that every command tells it under, '' where none is known; with its position.
    """

    number: int
    kind: str
    axes: str
    group_size: int
    tensor: str
    bytes: int
    seconds: float
    cause: Cause
    op: Site
    dims: tuple[int, ...]
    summary: str
    reason: str
    details: tuple[str, ...] = ()
    reshard: tuple[str, str] | None = None
    plan: tuple[str, ...] = ()
    sides: tuple[Party, ...] = ()
    tried: int | None = None
    failed: int = 0
    untried: int = 0
    counterfactuals: tuple[Counterfactual, ...] = ()
    necessary: tuple[Necessity, ...] | None = None
    times: Times = ONCE
    removal: Counterfactual | None = None
    needed: str | None = None
    joined: tuple[JoinedPart, ...] = ()
    line: str = ""
    position: str | None = None

    @property
    def moved(self) -> str:
        """The value that it moves by its author's name; else the op that needs it."""
        return next(filter(None, (side.known for side in self.sides)), str(self.op))

    @property
    def origins(self) -> dict[str, tuple[str, ...]]:
        """For each axis the names of the annotations that chains lead to."""
        names_by_axis: dict[str, dict[str, None]] = {}
        for side in self.sides:
            for cause in side.causes:
                names_by_axis.setdefault(cause.axis, {})[cause.origin.name] = None
        return {axis: tuple(names) for axis, names in names_by_axis.items()}


@dataclass(frozen=True, slots=True)
class LineCost:
    """The costs of the collectives of one line of the author's program.

    Attributes:
        where: the line and its function, or the op where these are unknown.
        position: of the first of them in the source.
        kinds: how many of each kind.
        bytes: that a device sends for them.
        seconds: that they take, each alone.
        share: of the time of all collectives.
        annotations: that they come from, of those that take longest first.
    """

    where: str
    position: str | None
    kinds: tuple[tuple[str, int], ...]
    axes: tuple[str, ...]
    bytes: int
    seconds: float
    share: float
    annotations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between(Displayed):
    """Two programs and the lines that make the difference, before and after.

    `others` are lines that differ, too, and are not told.
    """

    left: str
    right: str
    before: Figures
    after: Figures
    lines: tuple[tuple[LineCost | None, LineCost | None], ...]
    others: int


@dataclass(frozen=True, slots=True)
class WhyNot(Displayed):
    """A program in which a value is sharded otherwise, beside the program as it is.

    Attributes:
        outcome: what it costs; None where it does not compile.
        now: how the value is sharded, and why.
        against: what stands against the wish, of the dimensions that are otherwise.
    """

    wish: str
    change: str
    outcome: Counterfactual | None
    now: WhySharding | None
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhyProgram(Displayed):
    """All collectives of a program and what they cost together."""

    source: str
    meshes: tuple[str, ...]
    figures: Figures
    collectives: tuple[WhyCollective, ...]
    summary: tuple[Purpose, ...] = ()
    machine: Machine = GENERIC
    notes: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    by: str | None = None
    rows: tuple[str, ...] = ()
    """For each collective what all of its row share, if `by` is asked for."""
    causes: tuple[LineCost, ...] = ()
    """The lines that cost most, of at most five."""


Answer = WhySharding | WhyCollective | WhyProgram | WhyNot
"""Of one question about one program."""
