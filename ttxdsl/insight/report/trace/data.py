"""All that a report shows, as plain data: what `ttxdsl report --json` prints.

Whoever compiles hands over the module after each step; it is read at once, since the
next step changes it in place.

    trace.start(module)
    trace.step(stage)
    ...
    data = trace.data(version, remarks)

The keys of the data:

- `title`, `version`, `meshes`, `axes` (of all meshes, also those of size one), `summary`, `machine` (that times stand on);
- `parts_of_axes`: for the text of each part of an axis a sentence on its devices;
- `layouts`: see `layouts.py`; a value's `layout` is an index here;
- `graph`: `stage` (the number of the stage that it shows), `scopes`, `nodes`;
- `stages`, each with `rows` `[key, text, indent, change, before]`: a line of the listing
  with its op, the index of its text in `texts`, and what the stage did to it (0 nothing,
  1 changed it from `before`, 2 added it, 3 removed it); `all_stages` is false where those
  that are not listed count to the next one;
- `keys`: for each key of an op the node that it belongs to, -1 for none;
- `verdict`: what the first page says, see `verdict.py`; `advice`: what to write instead,
  see `advice.py`, null if nobody asked;
- `timeline`: seconds of all, of computing, of collectives, and `events`, each
  `[lane, name, start, seconds, times, depth, node]`: see `ttxdsl.analysis.usage.timeline`;
- `collectives`, in program order, each with `why`, the number of its reason in `whys`
  or -1; `memory`, or null with `no_memory` saying why;
- `remarks`, each with its severity, message, position and node.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.nodes import TraceNode
from ttxdsl.analysis.attribution.stacks import Stacks
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.calls.call_graph import MAIN
from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.usage.device import known_chip, machine_on
from ttxdsl.api.forms import ProgramForm
from ttxdsl.conversion.driver import lowerings, run_passes
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.insight.report.reasons import reasons_of
from ttxdsl.insight.report.trace.counts import Counts, count_program
from ttxdsl.insight.report.trace.graph import Graph, GraphBuilder
from ttxdsl.insight.report.trace.layouts import LayoutTable
from ttxdsl.insight.report.trace.listing import (
    ADDED,
    CHANGED,
    REMOVED,
    StageLog,
    StageRecord,
)
from ttxdsl.insight.report.trace.wholes import Wholes
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.ir.collector import without_collections
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.processes import Start, at_once
from ttxdsl.loading.program import make_context
from ttxdsl.loading.version import __version__
from ttxdsl.transforms.pipeline import Hooks, Stage, TTStableHLOPipelinePass

LAYOUT_STAGE = 10
"""After it tensors still have global shapes, each with its sharding."""
DEVICE_STAGE = 13
"""After it the program is what one device runs, which the graph shows."""
LARGE = 4_000
"""Ops of a program above which a report lists stage 13 alone, which all of it shows, unless
asked for all: the others and both lowerings take half as long again, and nobody reads
100,000 lines who did not want to."""


@dataclass(slots=True)
class Trace:
    """Follows a program through its compilation, from `start` on.

    `every` is whether all stages are listed; None: of a program of at most `LARGE` ops.
    """

    title: str
    machine: Machine
    trip_count: int | None
    chip: Chip | None
    on_step: Callable[[str], None] | None
    all_axes: bool
    every: bool | None
    count: Start | None
    module: ModuleOp = field(init=False)
    layouts: LayoutTable = field(init=False)
    all_stages: bool = field(init=False)
    graph: Graph | None = field(init=False)
    graph_stage: int | None = field(init=False)
    axes: list[str] = field(init=False)
    _stacks: Stacks = field(init=False)
    _log: StageLog = field(init=False)
    _wholes: Wholes = field(init=False)
    _words: Words = field(init=False)
    _unlisted_seconds: float = field(init=False)
    _counting: Callable[[], Counts] | None = field(init=False)
    _places: list[tuple[int, int]] = field(init=False)
    """The node and the key of each op of the program that is counted, in its order."""

    def start(self, module: ModuleOp) -> None:
        """Begin with the module as it was read; a compilation may begin anew."""
        self.module, self.layouts = module, LayoutTable(self.all_axes)
        self.all_stages = (
            len(all_ops(module)) <= LARGE if self.every is None else self.every
        )
        self.graph = self.graph_stage = self._counting = None
        self.axes, self._places, self._unlisted_seconds = [], [], 0.0
        self._stacks, self._words = Stacks(module), Words(self.trip_count)
        self._log, self._wholes = StageLog(self._stacks.origins), Wholes()
        if self.all_stages:
            self._log.record(0, "as read", module)

    def before(self, number: int | None, name: str) -> None:
        """Tell which step starts."""
        if self.on_step is not None:
            self.on_step(name if number is None else f"{number} {name}")

    def step(self, stage: Stage) -> None:
        """Note what a stage (by number) or a lowering (None) made of the module."""
        number, seconds = stage.number, stage.seconds + self._unlisted_seconds
        if number == DEVICE_STAGE:
            self._count()
        self._unlisted_seconds = 0.0
        if self.all_stages or number == DEVICE_STAGE:
            self._log.record(
                *(number, stage.name, self.module),
                seconds=seconds,
                skipped=stage.skipped,
            )
        else:
            self._unlisted_seconds = seconds
        if number == LAYOUT_STAGE and not stage.skipped:
            self._read_wholes()
        if number == DEVICE_STAGE:
            self._draw(number)

    def data(
        self, version: str, remarks: Sequence[tuple[str, str, str | None]]
    ) -> dict[str, Any]:
        """All of it.

        Args:
            version: of what compiled it.
            remarks: severity, message and position of each.
        """
        if self.graph is None:
            # a program that was lowered already: what it is has to do
            if not self._log.stages:
                self._log.record(0, "as read", self.module)
            self._count()
            self._draw(self._log.stages[-1].number)
        graph = self.graph
        assert graph is not None and self._counting is not None
        counts = self._counting()
        self._place(counts, graph)
        return {
            "title": self.title,
            "version": version,
            "meshes": self.layouts.meshes_data(),
            "axes": self.axes,
            "parts_of_axes": self.layouts.parts_of_axes,
            "summary": self._summary(graph, counts),
            "layouts": self.layouts.layouts,
            "graph": {
                "stage": self.graph_stage,
                "scopes": [asdict(scope) for scope in graph.scopes.scopes],
                "nodes": [_node_data(node) for node in graph.nodes],
            },
            "stages": [_stage_data(stage) for stage in self._log.stages],
            "all_stages": self.all_stages,
            "texts": self._log.texts,
            "keys": self._nodes_of_keys(),
            "machine": str(self.machine),
            "verdict": counts.verdict,
            "timeline": counts.timeline,
            "collectives": counts.collectives,
            "memory": counts.memory,
            "no_memory": counts.no_memory,
            "remarks": [self._remark(*remark) for remark in remarks],
        }

    # --- what is read of the module at its stages ---------------------------

    def _builder(self) -> GraphBuilder:
        return GraphBuilder(
            _entry(self.module),
            self._stacks,
            {value: f"%{name}" for value, name in self._log.names.of.items()},
            self.layouts,
            self._log.keys,
            self._wholes,
            self._words,
        )

    def _read_wholes(self) -> None:
        """Read how values are split, which the program of one device does not say."""
        builder = self._builder()
        self._wholes.read(builder.function, self._stacks.origins, builder.result)

    def _draw(self, number: int | None) -> None:
        self.graph_stage = number
        for name, mesh in sdy.mesh_table(self.module).items():
            self.layouts.mesh(name, mesh)
            self.axes += mesh.axis_names
        self.graph = self._builder().build()
        self._stacks.mark_nodes(self.graph.operations)
        keys = self._log.keys
        self._places = [
            (self._node(op), keys.get(op, -1)) for op in all_ops(self.module)
        ]

    def _count(self) -> None:
        """Begin to count the program of one device."""
        given = self.machine, self.chip, self.trip_count, self._words
        # a lowering changes the program while it is counted
        begin = at_once if self.all_stages or self.count is None else self.count
        self._counting = begin(partial(count_program, self.module, *given))

    def _place(self, counts: Counts, graph: Graph) -> None:
        """Say for what was counted which nodes and rows of the listing it is about."""
        for _, mesh in self.layouts.meshes:
            self.layouts.tell_parts(counts.axes, mesh)
        places = self._places
        for collective in counts.collectives:
            collective["node"], collective["key"] = places[collective["order"]]
        for event in counts.timeline["events"]:
            event[-1] = places[event[-1]][0]
        for cost in counts.verdict["costs"]:
            cost["node"] = places[cost["node"]][0]
        if counts.memory is None:
            return
        for point in counts.memory["points"]:
            point[1:] = places[point[1]]
        arguments = _arguments(graph)
        for value in counts.memory["live"]:
            owner: int | str = value["node"]
            known = isinstance(owner, int)
            value["node"] = places[owner][0] if known else arguments.get(owner, -1)

    def _node(self, op: Operation) -> int:
        node = self._stacks.node(op)
        return -1 if node is None else node

    # --- what is known at the end -------------------------------------------

    def _nodes_of_keys(self) -> list[int]:
        """For every op that ever was the node that it became or was made of."""
        by_source: dict[tuple[int, ...], int] = {}
        nodes: dict[int, int] = {}
        for op, key in self._log.keys.items():
            at = self._node(op)
            if at >= 0:
                nodes[key] = at
                by_source.setdefault(self._stacks.source_chain(op), at)
        for op, key in self._log.keys.items():
            if key not in nodes:
                chain = self._stacks.source_chain(op)
                if chain in by_source:
                    nodes[key] = by_source[chain]
        count = 1 + max(self._log.keys.values(), default=-1)
        return [nodes.get(key, -1) for key in range(count)]

    def _summary(self, graph: Graph, counts: Counts) -> dict[str, Any]:
        return {
            "ops": sum(node.kind == "op" for node in graph.nodes),
            "arguments": sum(
                n.kind == "argument" and n.group == _named(graph, "arguments")
                for n in graph.nodes
            ),
            "collectives": sum(each["count"] for each in counts.collectives),
            "guessed": counts.guessed,
            "purposes": counts.purposes,
            "bytes": sum(each["bytes"] for each in counts.collectives),
            "seconds": counts.timeline["seconds"],
            "peak_bytes": None
            if counts.memory is None
            else counts.memory["peak_bytes"],
            "devices": max((m.total_size for _, m in self.layouts.meshes), default=1),
        }

    def _remark(
        self, severity: str, message: str, position: str | None
    ) -> dict[str, Any]:
        assert self.graph is not None
        node = -1
        for at, graph_node in enumerate(self.graph.nodes):
            if position and any(f.position == position for f in graph_node.frames[:1]):
                node = at
                break
        return {
            "severity": severity,
            "message": message,
            "position": position,
            "node": node,
        }


@without_collections()
def trace_program(
    program: ProgramForm,
    pipeline: TTStableHLOPipelinePass,
    num_links: int,
    machine: Machine,
    trip_count: int | None,
    on_step: Callable[[str], None] | None,
    *,
    chip: Chip | str | None = None,
    slices: int = 1,
    tries: int | None = None,
    jobs: int = 1,
    all_axes: bool = False,
    all_stages: bool | None = None,
    seconds: float | None = None,
    count: Start | None = None,
) -> dict[str, Any]:
    """Compile a program and return all that its report shows.

    A lowering that refuses it is told in a warning of the report. A program that came
    partitioned has no annotations, and so no reasons.

    Args:
        on_step: called with the name of each step before it starts.
        chip: instead of the machine; times and memory are then those of a plan.
        slices: of chips with a network each.
        tries: changes to compile for the reason of a collective; None: no reasons.
        all_axes: whether to show axes of size one, too.
        all_stages: whether to list what every stage and lowering made of it; None: of a
            program of at most `LARGE` ops.
        seconds: how long to look for what to write instead; None: not at all.
        count: begins to count a large program, while it is drawn.

    Raises:
        CompileError: the program cannot be partitioned, or its devices are no equal slices.
    """
    known = None
    if chip is not None:
        known = known_chip(chip)
        shape = pipeline.mesh_shape
        devices = prod(shape) if shape else devices_of(program.shared_module)
        machine = machine_on(known, devices, slices)
    shown = on_step, all_axes, all_stages, count
    trace = Trace(program.source, machine, trip_count, known, *shown)
    context, hooks = make_context(), Hooks(trace.before)
    remarks: list[Remark] = []

    def explain(module: ModuleOp, watch: Trace | None) -> Explainer:
        return Explainer(
            module,
            source=program.source,
            pipeline=pipeline,
            machine=machine,
            tries=tries,
            trip_count=trip_count,
            watch=watch,
        )

    def compile_plainly() -> None:
        trace.start(module := program.module)
        if program.form == "stablehlo":
            stages = replace(pipeline, dump_dir=None)
            with collect_remarks() as own:
                for stage in run_passes(context, module, [stages], hooks):
                    trace.step(stage)
            remarks.extend(own)

    explainer: Explainer | None = None
    has_reasons = (
        tries is not None and program.form == "stablehlo" and not program.is_partitioned
    )
    if has_reasons and sdy.mesh_table(original := program.shared_module):
        try:
            explainer = explain(original, trace)
            remarks.extend(explainer.remarks)
        except CompileError:
            compile_plainly()  # which says why, if it is no fault of the reasons
    else:
        with suppress(CompileError):
            # asked before the stages change the module
            explainer = explain(program.shared_module, None) if has_reasons else None
        compile_plainly()
    whys: list[str] = []
    numbers: list[int] = []
    if explainer is not None:
        if on_step is not None:
            on_step("reasons")
        whys, numbers = reasons_of(explainer, machine, jobs)
    passes = lowerings(program.form, num_links=num_links) if trace.all_stages else ()
    with collect_remarks() as refused:
        for each in passes:
            try:
                for stage in run_passes(
                    context, trace.module, [each], hooks, verify_each=True
                ):
                    trace.step(stage)
            except CompileError as error:
                form = each.name.rpartition("-")[2]
                text = f"it does not lower to {form}: {error.message}"
                refused.append(Remark("warning", text, error.position))
                break
    remarks += refused
    told = [(each.severity, each.message, each.position) for each in remarks]
    data = trace.data(__version__, told)
    collectives = data["collectives"]
    if len(numbers) == len(collectives):
        for collective, number in zip(collectives, numbers, strict=True):
            collective["why"] = number
    else:
        whys = []
    data["advice"] = None
    if seconds is not None:
        # searching imports as much again as the report does
        from ttxdsl.insight.report.advice import advice

        data["advice"] = advice(program, seconds, machine)
    return data if tries is None else {**data, "whys": whys}


def _named(graph: Graph, kind: str) -> int:
    kinds = [scope.kind for scope in graph.scopes.scopes]
    return kinds.index(kind) if kind in kinds else -1


def _arguments(graph: Graph) -> dict[str, int]:
    """Return the arguments whose names no others have, by these."""
    names = [node.name for node in graph.nodes if node.kind == "argument"]
    counts = Counter(names)
    return {name: at for at, name in enumerate(names) if counts[name] == 1}


def _entry(module: ModuleOp) -> FuncOp:
    functions = [
        op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration
    ]
    if not functions:
        raise CompileError("the module has no function to show", module)
    main = [function for function in functions if function.sym_name.data == MAIN]
    return [*main, *entry_functions(module), *functions][0]


def _node_data(node: TraceNode) -> dict[str, Any]:
    return {
        "kind": node.kind,
        "op": node.op,
        "name": node.name,
        "inputs": node.inputs,
        "outputs": [value._asdict() for value in node.outputs],
        "frames": [[f.function, f.position] for f in node.frames],
        "path": node.path,
        "key": node.key,
        "scope": node.group,
    }


def _stage_data(stage: StageRecord) -> dict[str, Any]:
    return {
        "number": stage.number,
        "name": stage.name,
        "seconds": stage.seconds,
        "skipped": stage.skipped,
        "changed": stage.count(CHANGED),
        "added": stage.count(ADDED),
        "removed": stage.count(REMOVED),
        "rows": [row[: 5 if row.change == CHANGED else 4] for row in stage.rows],
    }
