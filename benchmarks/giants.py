"""The training steps of public models, looked into: every model that MaxText has.

    python benchmarks/giants.py export DIR --python PYTHON
    python benchmarks/giants.py measure DIR
    python benchmarks/giants.py table DIR > docs/evidence/giants.md

`export` writes each step as text (`tpu/maxtext_step.py`, by a Python that has MaxText),
`measure` asks ttxdsl about each that is there and keeps the answers in
`DIR/NAME.answer.json`, `table` prints them. All take `--only TEXT`, which names of steps
are to contain, and go on where they stopped. `measure --without report` leaves the slow
question out; without it `measure` asks later what is missing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXPORTER = Path(__file__).parent / "tpu" / "maxtext_step.py"

MODELS = [
    "deepseek2-16b",
    "deepseek2-236b",
    "deepseek3-671b",
    "deepseek3-671b-2dfsdp",
    "deepseek3-671b-batchsplit",
    "deepseek3-test",
    "deepseek3-tiny",
    "deepseek3.2-671b",
    "deepseek4-284b",
    "deepseek4-tiny",
    "deepseek-custom",
    "envy-switch-base",
    "envy-switch-large",
    "envy-switch-xxl",
    "envy-test",
    "gemma-2b",
    "gemma-7b",
    "gemma2-2b",
    "gemma2-9b",
    "gemma2-27b",
    "gemma3-4b",
    "gemma3-12b",
    "gemma3-27b",
    "gemma4-26b",
    "gemma4-31b",
    "gemma4-e2b",
    "gemma4-e4b",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "gpt3-52k",
    "gpt3-6b",
    "gpt3-22b",
    "gpt3-175b",
    "kimi-k2-1t",
    "llama2-7b",
    "llama2-13b",
    "llama2-70b",
    "llama3-8b",
    "llama3-70b",
    "llama3-405b",
    "llama3.1-8b",
    "llama3.1-70b",
    "llama3.1-405b",
    "llama3.3-70b",
    "llama4-17b-16e",
    "llama4-17b-128e",
    "mistral-7b",
    "mixtral-8x7b",
    "mixtral-8x22b",
    "olmo3-7b",
    "olmo3-7b-pt",
    "olmo3-32b",
    "qwen2.5-1.5b",
    "qwen2.5-7b",
    "qwen2.5-14b",
    "qwen3-0.6b",
    "qwen3-1.7b",
    "qwen3-1.7b-base",
    "qwen3-4b",
    "qwen3-4b-base",
    "qwen3-4b-thinking-2507",
    "qwen3-8b",
    "qwen3-8b-base",
    "qwen3-14b",
    "qwen3-14b-base",
    "qwen3-32b",
    "qwen3-30b-a3b",
    "qwen3-30b-a3b-base",
    "qwen3-custom-30b-a3b",
    "qwen3-235b-a22b",
    "qwen3-480b-a35b",
    "qwen3-next-80b-a3b",
    "qwen3-omni-30b-a3b",
    "qwen3-vl-2b",
    "qwen3-vl-4b",
    "qwen3-vl-30b-a3b",
    "qwen3.5-35b-a3b",
    "qwen3.5-35b-a3b-fp8",
    "qwen3.5-397b-a17b",
    "qwen3.5-397b-a17b-fp8",
    "weaver-mini",
    "weaver-max",
]
"""Every model that MaxText 0.2.5 has a configuration of."""

EXPERTS = (
    "deepseek",
    "kimi",
    "mixtral",
    "gpt-oss",
    "a3b",
    "a22b",
    "a35b",
    "a17b",
    "llama4",
)
"""Parts of names of models with experts."""

INDEXERS = ("deepseek3.2", "deepseek4", "deepseek-custom")
"""Parts of names of models whose step trains nothing but an indexer unless told otherwise."""

EXPORT_SECONDS = 600
"""The most that one export may take."""

SECONDS = 900
"""The most that one answer may take."""

ATTEMPTS = 5
"""How often a step is exported, each time with the options that MaxText's message asks for."""


@dataclass(frozen=True)
class Step:
    """One training step: a model on a topology."""

    model: str
    topology: str
    slices: int
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        kind = "dot" if "attention=dot_product" in self.options else "pallas"
        return f"{self.model}_{self.topology}x{self.slices}_{kind}"

    @property
    def split(self) -> str:
        """The parallelism that it asks for beside FSDP."""
        found = [
            one for one in self.options if "parallelism" in one and "fsdp" not in one
        ]
        return ", ".join(one.replace("_parallelism", "") for one in found)


def steps() -> list[Step]:
    """Two topologies of each model, and one in four split by more than FSDP."""
    small, large = [], []
    for at, model in enumerate(MODELS):
        sizes = ("per_device_batch_size=1", "max_target_length=4096")
        experts = any(part in model for part in EXPERTS)
        extra: tuple[str, ...] = ()
        if at % 4 == 0:
            kind = "expert" if experts else "tensor"
            extra = (f"ici_{kind}_parallelism=4", "ici_fsdp_parallelism=-1")
        elif at % 8 == 3:
            extra = ("ici_context_parallelism=4", "ici_fsdp_parallelism=-1")
        if any(part in model for part in INDEXERS):
            sizes = (*sizes, "indexer_sparse_training=true")
        split = "allow_split_physical_axes=true"
        dot, pallas = "attention=dot_product", "attention=flash"
        first, second = (dot, pallas) if at % 2 else (pallas, dot)
        topology, slices = (("v6e-256", 1), ("v5p-128", 1), ("v6e-256", 2))[at % 3]
        small.append(Step(model, topology, slices, (*sizes, first, split, *extra)))
        topology, slices = (("v5p-8192", 1), ("v6e-256", 16))[at % 2]
        large.append(Step(model, topology, slices, (*sizes, second, split)))
    return [*small, *large]


def export(options: argparse.Namespace) -> None:
    """Write each step that is not there yet; what goes wrong is in `NAME.err`.

    A step that MaxText refuses for its options is tried again with those that the
    refusal asks for.
    """
    for step in chosen(options):
        out = options.directory / step.name
        errors = out.with_name(f"{step.name}.err")
        if out.with_name(f"{step.name}.json").exists() or errors.exists():
            continue
        settings = dict(option.split("=", 1) for option in step.options)
        error = ""
        for _ in range(ATTEMPTS):
            error = export_once(options, step, out, settings)
            changed = adapted(settings, error, step)
            if not error or changed == settings:
                break
            settings = changed
        if error:
            errors.write_text(error)
        print(step.name, refusal(error) if error else "", flush=True)


def export_once(
    options: argparse.Namespace, step: Step, out: Path, settings: dict[str, str]
) -> str:
    """Export a step with these options; return what went wrong, or nothing."""
    command = [options.python, str(EXPORTER), str(out), step.model, step.topology]
    command += ["--slices", str(step.slices)]
    command += [f"{name}={value}" for name, value in settings.items()]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=EXPORT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"not done after {EXPORT_SECONDS} s"
    return done.stderr if done.returncode else ""


def adapted(settings: dict[str, str], error: str, step: Step) -> dict[str, str]:
    """Return the options with what the refusal asks for."""
    settings = dict(settings)
    if "scan_layers=False" in error:
        settings["scan_layers"] = "false"
    elif "tokamax" in error:
        settings["use_tokamax_splash"] = "true"
    elif "overridden by both" in error:
        settings.pop("max_target_length", None)
    elif "num_kv_heads" in error and "ici_tensor_parallelism" in settings:
        settings["ici_tensor_parallelism"] = "2"
    elif "IndivisibleError" in error or "does not evenly divide" in error:
        # Weights are divided among fewer devices, and the batch among groups of them.
        width = int(settings.get("ici_fsdp_parallelism", -1))
        narrower = [size for size in (256, 64, 16) if size < width or width == -1]
        if width == -1 and not step.topology.startswith("v5p-8192"):
            narrower.remove(256)
        if narrower:
            settings["ici_fsdp_parallelism"] = str(narrower[0])
            settings["ici_data_parallelism"] = "-1"
    return settings


def refusal(error: str) -> str:
    """Return the reason of a refusal in a line."""
    if match := re.search(
        r"partitioned (\d+) times, but .*?dimension size (?:is )?(\d+)", error
    ):
        return "JAX: a dimension of {1} is divided {0} times".format(*match.groups())
    if "literal_error" in error:
        return "no `model_name` that MaxText accepts"
    lines = [line.strip() for line in error.splitlines()]
    for line in reversed(lines):
        if line.startswith("Value error, "):
            return line.removeprefix("Value error, ").partition(" [type=")[0]
    for line in reversed(lines):
        if re.match(r"[\w.]*(Error|Exception)\b", line):
            return line
    return lines[-1] if lines else ""


def chosen(options: argparse.Namespace) -> list[Step]:
    known = steps()
    if options.small:
        known = known[: len(MODELS)]
    return [step for step in known if options.only in step.name]


ANSWER = """
import json, resource, sys, time
import ttxdsl
path, page, asks = sys.argv[1:]
seconds, answer = {}, {"ops": open(path).read().count(" = ")}
def timed(name, ask):
    start = time.process_time()
    try:
        return ask()
    finally:
        seconds[name] = round(time.process_time() - start, 2)
program = timed("load", lambda: ttxdsl.load(path))
local = timed("partition", program.partition)
collectives = timed("collectives", local.collectives)
memory = timed("memory", local.memory)
answer["collectives"] = sum(one.count for one in collectives)
answer["bytes"] = sum(one.bytes_per_device for one in collectives)
answer["unpriced"] = sorted({one.kind for one in collectives if not one.is_priced})
answer["uncounted"] = sum(not one.times.is_known for one in collectives)
answer["peak"] = memory.peak_bytes
answer["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
if "why" in asks:
    timed("why", program.why)
if "report" in asks:
    timed("report", lambda: program.report(page))
    answer["report_kib"] = len(open(page, "rb").read()) // 1024
print(json.dumps({**answer, "seconds": seconds}))
"""

MEASURED = ("load", "partition", "collectives", "memory")
"""What the seconds of a step are the sum of."""

QUESTIONS = ("why", "report")
"""What is asked after a step is partitioned."""


def programs(options: argparse.Namespace) -> list[Path]:
    """Return the steps that are there, those first that libtpu compiled, too."""
    found = sorted(options.directory.glob("*.mlir"))
    found = [path for path in found if path.with_suffix(".json").exists()]
    found.sort(key=lambda path: not path.with_suffix(".hlo").exists())
    return [path for path in found if options.only in path.name]


def measure(options: argparse.Namespace) -> None:
    """Ask about each step that was exported; what goes wrong is the answer then.

    The smallest go first, so that much is known early.
    """
    wanted = [name for name in QUESTIONS if name not in options.without.split(",")]
    smallest_first = sorted(programs(options), key=lambda path: path.stat().st_size)
    for path in smallest_first:
        out = path.with_suffix(".answer.json")
        answer: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {}
        known = answer.get("seconds", {})
        if "error" in answer or (
            "memory" in known and all(name in known for name in wanted)
        ):
            continue
        page = path.with_suffix(".html")
        asks = ",".join(name for name in wanted if name not in known)
        command = [sys.executable, "-c", ANSWER, str(path), str(page), asks]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS
            )
            error = done.stderr.strip() if done.returncode else ""
            new = json.loads(done.stdout) if not error else {"error": error}
        except subprocess.TimeoutExpired:
            new = {"error": f"not done after {SECONDS} s"}
        page.unlink(missing_ok=True)
        taken: dict[str, float] = new.get("seconds", {})
        least = {name: min(known.get(name, s), s) for name, s in taken.items()}
        new["seconds"] = {**known, **least}
        new["date"] = datetime.date.today().isoformat()
        out.write_text(json.dumps({**answer, **new}))
        print(path.stem, str(new)[-300:], flush=True)


RESULT = """\
{steps} training steps of public models ({refused} refused) are partitioned, priced and measured in
{median:.1f} processor seconds in the median, {most:.1f} at most. All above 10 s have more than 46,000 ops: MaxText
does not scan (all of) their layers. Of the {compiled} that libtpu compiled {above} sends more than libtpu's program.
"""


HEAD = """\
# Giants: the training steps of public models

{result}
Steps that MaxText 0.2.5 has, exported without weights or chips and looked into at
real-time priority on a machine of two cores that others used at the same time (`chrt -f 5
python benchmarks/giants.py`, which has every model). Processor seconds and MB are those of
loading, partitioning, listing collectives and the peak of memory together; `why` and
`report` have columns of their own, and were not asked of each; both compile the program
again. Of what was measured twice the least is told. Bytes are what a device sends in a step
by the ring model. Those of libtpu are read off the HLO that it compiles for the same step, where it was
compiled. *Priced* says that every collective has its bytes and every loop its trip count.
All figures are of {dates}.

What MaxText refuses is exported again as its message asks: without scanned layers
(`scan_layers=false`, Gemma 4 E2B and E4B, and models with pictures), with `use_tokamax_splash`
(DeepSeek 3.2 and 4), divided among fewer devices by FSDP and by data besides, where a
dimension is no multiple (the column *split* has the outcome). Models with an indexer are told to train
more than that (`indexer_sparse_training`): MaxText's own default leaves the model out, and
DeepSeek 3.2's step has no product then and nothing to send.
"""


NOTES = """\
## libtpu's bytes, checked by hand

Of three steps what the reader of HLO adds up was computed from the model alone. FSDP with
everything made again sends all weights of the layers twice as bfloat16 (forward, and again
in the backward pass) and those of the output once; a gather of n bytes sends (d-1)/d n.

| step | by hand | read off the HLO |
| --- | --- | --- |
| Llama 3.1 8B, v5e-256, all_gathers | (2 x 6.98e9 + 0.53e9) x 2 B x 255/256 = 26.9 GiB | 26.87 GiB |
| Mixtral 8x7B, v5p-128, all_gathers | (2 x 46.44e9 + 0.13e9 + 1.34e9 of attention once more) x 2 B x 63/64 = 173.0 GiB | 173.0 GiB |
| Llama 3.1 70B, v5p-256, all_gathers | (2 x 68.5e9 + 1.05e9) x 2 B x 127/128 = 255 GiB | 254.95 GiB |

libtpu writes no trip count into its loops: the reader counts them from condition, body and
start (32, 32 and 80 layers above; 16 windows of 2 permutations and so on inside). With
`--xla_dump_to=DIR --xla_dump_hlo_pass_re=.*spmd.*` libtpu also writes the module right
after its partitioner (`…after_tpu-spmd-partitioning…`), which the same reader takes; on a
scanned matmul both say the same bytes.

## Where the two differ, by kind

All 24 steps of the table that libtpu compiled send at most its bytes (0.65 to 0.97; 16 of them were
asked on 29 November 2026), and so do three on v7x, whose collectives run on sparse cores, as custom
calls: Gemma 3 12B on 32 cores 0.79, Qwen 3 8B on 16 0.91, Llama 3.1 70B on 128 0.99 (there libtpu
reduce-scatters, too, and its gathers have our bytes to the digit).

- **Gradients.** We reduce-scatter them (n bytes sent for n); libtpu all-reduces them and
  slices (2 n) in the steps of Llama 8B on v5e-256, Llama 70B, Mixtral, Gemma 2 and gpt-oss.
  That is the greater part of every difference below.
- **Windows.** On 16 and 32 chips libtpu makes a gather and the product behind it a loop of
  collective_permutes (`windowed_dot_general`): thousands of launches, as many bytes.
- **Pieces.** An asynchronous gather is in a fusion that starts it, in those it runs beside,
  and in one that ends it: one row here.
"""


UNROLLED = """\
## Layers unrolled

What a loop says once is here as often as there are layers (Gemma 4, DeepSeek 4, Weaver and
the models with pictures above, from 46,000 ops on, are so, too: MaxText does not scan them,
or not whole).

| step | ops | s | MB | launches | sent |
| --- | --- | --- | --- | --- | --- |
| Llama 3.1 405B of MaxText, `scan_layers=false`, v6e-256 x 2 | 275,458 | 49.9 | 968 | 3,038 | 2.2 TiB |
| 384 layers of `benchmarks/speed/large_step.py`, 16 x 16 devices | 190,219 | 26.9 | 516 | 4,353 | 11.8 TiB |
| 126 layers | 62,509 | 8.7 | 294 | 1,262 | 3.9 TiB |
| 24 layers | 12,019 | 1.7 | 247 | 242 | 768.4 GiB |
| 126 layers, scanned | 1,110 | 0.7 | 238 | 1,388 | 3.9 TiB |

From 24 to 384 layers seconds grow by the power 0.99 of the layers. Until the collector
of garbage was kept from reading the program while it is partitioned and asked, the first
took 101 s on the same machine at the same priority: 37 s of it were memory and collectives,
which take 7 now.

## Questions, beside compiling

A report takes 2.3 to 4.1 s for 10,000 ops beyond compiling: seconds by the clock, in one process at
real-time priority, 2026-11-29, on a machine that takes some 1.5 times as long as that of the first table.
*Compiled* is loading, partitioning, listing collectives and memory.

| step | ops | compiled | `report` | beyond, for 10,000 ops |
| --- | --- | --- | --- | --- |
| Llama 3.1 405B, v6e-256 x 2 | 3,087 | 1.7 | 2.8 | 3.5 |
| DeepSeek 3, v6e-256 x 2 | 10,250 | 4.2 | 7.0 | 2.7 |
| gpt-oss 120B, v5p-128 | 11,214 | 5.3 | 10.0 | 4.1 |
| Gemma 3 12B, v6e-32 | 15,996 | 4.7 | 8.4 | 2.3 |

A report once had the listings of all stages, which are made when asked for since (`--all-stages`: 24.5 s of
gpt-oss 120B, 16.8 without), and reads what it needs once since (0.78 and 0.83 of the time for Llama-like
steps of 24 layers, with the lines of their source and without). These two take 6.5 and 3.8 s of processor on a
machine that others hardly used, 5.0 and 3.2 for 10,000 ops, 7.6 and 5.1 with the memory of a chip.

One collective of a large program is explained by what three seconds suffice for: the answer says how many
changes were not compiled, and `--tries 3` compiles three, each as a whole. `--collective 0` is what is asked
beyond *compiled* (here loading and partitioning), reading and compiling with notes included; processor
seconds, before and now in one run, 2026-11-28, 15 processes waiting for two cores. `why` is of the day before, at
real-time priority, beside compiling again.

| step | ops | compiled | now | `--collective 0` | now | changes | now | `why` |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Llama 3.1 8B, v5p-64 | 3,216 | 1.0 | 0.8 | 3.2 | 2.6 | 3 | 3 | 1.9 |
| DeepSeek 3, v6e-256 x 2 | 10,297 | 2.9 | 2.9 | 16.0 | 1.6 | 3 | none | 4.8 |
| gpt-oss 120B, v5p-128 | 12,826 | 7.9 | 5.2 | 48.9 | 3.5 | 3 | none | 12.9 |
| Gemma 3 4B, v6e-256 x 2 | 25,378 | 7.9 | 7.8 | 42.9 | 3.0 | 3 | none | 11.9 |
| Llama 4 Scout, v6e-256 x 2 | | 15.4 | 9.9 | | | | | |
| Qwen 3.5 35B, v5p-128 | | 16.4 | 11.6 | | | | | |

The last two were the only scanned steps above 10 s; they take 7.5 to 10.3 since large programs are tried both ways,
where shardings contradict each other, only where loops gain enough, and new objects are not read after a
pass. Their rows in the first table were measured anew on 28 November, the others are older. Bytes and
launches of the 21 that were compared are the same; Scout on v6e and Qwen 3.5 35B on v5p-128 send 0.8% more.
"""

TTNN = """\
## Text to ttnn, beside XLA's compilation

`chrt -f 5 python benchmarks/xla/text_to_ttnn.py`: the JAX corpus with random shardings over
2 x 4 devices and the sharded models; processor seconds of warm processes, from the text
to ttnn text, and from the same text to what XLA makes of it for eight CPU devices, without
JAX's tracing and lowering.

| ops | programs | ours, s | XLA's, s | ours / XLA's | median of a program |
|---|--:|--:|--:|--:|--:|
| from 0 to 99 | 451 | 7.00 | 22.20 | 0.32 | 0.33 |
| from 100 to 299 | 17 | 1.47 | 4.23 | 0.35 | 0.34 |
| from 300 | 3 | 0.41 | 1.95 | 0.21 | 0.36 |
| all | 471 | 8.88 | 28.38 | 0.31 | 0.33 |

By the clock (`--clock --every 3`, with both cores used by others) 0.36, 0.74 and 0.45, all
0.43: XLA has threads.
"""


TWINS = """\
## Small twins

The same code of MaxText with few and narrow layers (`override_model_config`, the settings
are in `tests/giants/twins.py`), on eight devices: what a training step returns (weights,
optimizer state, metrics), from random inputs. *Virtual mesh* says how many of the results
are those of one device, *XLA* how many are equal to what XLA for CPUs computes on eight
devices of JAX (`compare-xla`). Attention and experts are without Pallas kernels, which run
on chips only. A Python with MaxText exports them:

    python3.12 -m venv maxtext
    maxtext/bin/pip install jax flax optax maxtext libtpu orbax-checkpoint grain qwix aqtp \\
        omegaconf pydantic pydantic-settings ml_collections sentencepiece transformers \\
        tensorboard tensorboardX tiktoken pathwaysutils drjax jinja2 tokamax pillow sympy
    TTXDSL_MAXTEXT_PYTHON=maxtext/bin/python pytest -m fuzz tests/giants

| twin | model | split | ops | launches | virtual mesh | XLA |
| --- | --- | --- | --- | --- | --- | --- |
| `llama` | llama3.1-8b | fsdp 8 | 3,204 | 36 | 62 of 62 | 62 of 62 |
| `llama_tensor` | llama3.1-8b | fsdp 2, tensor 4 | 3,204 | 92 | 62 of 62 | 62 of 62 |
| `llama_context` | llama3.1-8b | fsdp 4, context 2 | 3,200 | 85 | 62 of 62 | 62 of 62 |
| `gemma2` | gemma2-2b | fsdp 8 | 5,419 | 49 | 98 of 98 | - |
| `gemma3` | gemma3-4b | fsdp 8 | 19,727 | 60 | 305 of 305 | 305 of 305 |
| `gpt3` | gpt3-52k | fsdp 8 | 3,517 | 35 | 73 of 73 | 73 of 73 |
| `olmo3` | olmo3-7b | fsdp 8 | 10,895 | 38 | 167 of 167 | 167 of 167 |
| `qwen3` | qwen3-0.6b | fsdp 8 | 2,946 | 37 | 65 of 65 | 65 of 65 |
| `qwen3_moe` | qwen3-30b-a3b | fsdp 8 | 3,571 | 47 | 71 of 71 | 71 of 71 |
| `qwen3_next` | qwen3-next-80b-a3b | fsdp 8 | 12,240 | 99 | 140 of 140 | 140 of 140 |
| `mixtral` | mixtral-8x7b | fsdp 8 | 3,106 | 46 | 65 of 65 | 65 of 65 |
| `mixtral_expert` | mixtral-8x7b | fsdp 2, expert 4 | 3,106 | 94 | 65 of 65 | 65 of 65 |
| `deepseek2` | deepseek2-16b | fsdp 8 | 6,615 | 65 | 113 of 113 | 113 of 113 |
| `deepseek3` | deepseek3-671b | fsdp 8 | 7,418 | 56 | 126 of 126 | 126 of 126 |
| `gpt_oss` | gpt-oss-20b | fsdp 8 | 8,415 | 34 | 149 of 149 | 149 of 149 |
| `llama4` | llama4-17b-16e | fsdp 8 | 13,020 | 66 | 191 of 191 | 191 of 191 |
| `qwen3_vision` | qwen3-vl-2b | fsdp 8 | 13,555 | 33 | 281 of 281 | 281 of 281 |
"""


def _priced(answer: dict[str, Any]) -> str:
    """Return whether all is priced, or what is not."""
    if "unpriced" not in answer:
        return "-"
    gaps = list(answer["unpriced"])
    if answer["uncounted"]:
        gaps.append(f"{answer['uncounted']} in loops of unknown count")
    return ", ".join(gaps) or "all"


def table(options: argparse.Namespace) -> None:
    """Print the page: a row for each step with an answer, then what has none."""
    from ttxdsl.bridges.xla.hlo.collectives import list_hlo_collectives
    from ttxdsl.costs.units import bytes_text

    columns = (
        *("model", "chips", "split", "attention", "ops", "s", "MB", "launches"),
        *("priced", "sent", "libtpu's", "peak", "why, s", "report, s", "report, KiB"),
    )
    answers = [path.with_suffix(".answer.json") for path in programs(options)]
    answers = [path for path in answers if path.exists()]
    dates = sorted(
        {
            datetime.date.fromtimestamp(path.stat().st_mtime).isoformat()
            for path in answers
        }
    )
    lines = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    wrong: list[str] = []
    seconds: list[float] = []
    compiled = above = 0
    for path in programs(options):
        out = path.with_suffix(".answer.json")
        if not out.exists():
            continue
        answer: dict[str, Any] = json.loads(out.read_text())
        about: dict[str, Any] = json.loads(path.with_suffix(".json").read_text())
        if "error" in answer:
            last = answer["error"].splitlines()[-1]
            wrong.append(f"- {about['model']}, {about['topology']}: {last}")
            continue
        times = answer["seconds"]
        taken = sum(times[name] for name in MEASURED)
        seconds.append(taken)
        text = path.read_text()
        hlo = path.with_suffix(".hlo")
        theirs = "-"
        if hlo.exists():
            listed = list_hlo_collectives(hlo.read_text(), about["devices"])
            total = sum(one.bytes_per_device for one in listed)
            theirs = bytes_text(total)
            compiled += 1
            above += answer["bytes"] > total
        slices = f" x {about['slices']}" if about["slices"] > 1 else ""
        row = (
            about["model"],
            f"{about['topology']}{slices} ({about['devices']:,})",
            ", ".join(f"{axis} {size}" for axis, size in about["mesh"].items()),
            "Pallas" if "splash_m" in text else "dot_product",
            f"{answer['ops']:,}",
            f"{taken:.1f}",
            f"{answer['mb']:,}",
            f"{answer['collectives']:,}",
            _priced(answer),
            bytes_text(answer["bytes"]),
            theirs,
            bytes_text(answer["peak"]),
            f"{times['why']:.1f}" if "why" in times else "-",
            f"{times['report']:.1f}" if "report" in times else "-",
            f"{answer['report_kib']:,}" if "report_kib" in answer else "-",
        )
        lines.append(f"| {' | '.join(row)} |")
    result = RESULT.format(
        steps=len(seconds),
        median=sorted(seconds)[len(seconds) // 2],
        most=max(seconds),
        refused=len(wrong) or "none",
        compiled=compiled,
        above=above or "none",
    )
    shown = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    print(HEAD.replace("{dates}", shown).replace("{result}", result))
    print("\n".join(lines))
    refused = sorted(options.directory.glob("*.err"))
    refused = [path for path in refused if not path.with_suffix(".json").exists()]
    asked = {
        path.stem
        for path in programs(options)
        if path.with_suffix(".answer.json").exists()
    }
    left = [step.name for step in steps() if step.name not in asked]
    left = [name for name in left if not (options.directory / f"{name}.err").exists()]
    print(f"\n{NOTES}")
    print(UNROLLED)
    print(TTNN)
    print(TWINS)
    print("## Refused by ttxdsl\n")
    print("\n".join(wrong) or "None of these.")
    print("\n## Refused by MaxText or libtpu's topologies\n")
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for path in refused:
        kinds[refusal(path.read_text())].append(path.stem)
    print(
        "\n".join(f"- {kind} ({', '.join(kinds[kind])})" for kind in kinds) or "None."
    )
    print("\n## Not run\n")
    print(", ".join(left) or "None.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("export", "measure", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true", help="one topology each")
    parser.add_argument("--without", default="", help="questions not to ask")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    {"export": export, "measure": measure, "table": table}[options.action](options)


if __name__ == "__main__":
    main()
