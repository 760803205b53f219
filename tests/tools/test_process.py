"""The command as a process: interrupts, full and closed outputs, nothing of the folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ttxdsl.tools import main as entry
from ttxdsl.tools.console import print_error
from ttxdsl.tools.main import main
from ttxdsl.tools.process import Interrupts

MLP = Path(__file__).parents[2] / "examples" / "mlp_train_step.mlir"


# --- outputs ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "buffering"),
    [
        (["compile", str(MLP)], -1),
        (["show", str(MLP)], -1),
        (["show", str(MLP), "--json"], -1),
        (["interpret", str(MLP), "--seed", "0"], 1),
        (["--help"], 1),
        (["--version"], -1),
    ],
)
def test_a_full_disk_is_one_line(
    words: list[str],
    buffering: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    full = os.open("/dev/full", os.O_WRONLY)
    stream = open(full, "w", buffering, encoding="utf-8", closefd=False)  # noqa: SIM115
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(words) == 1
    assert capsys.readouterr().err == (
        "error: cannot write standard output: No space left on device\n"
    )
    # what it could not write it keeps, and would complain when it is freed
    os.dup2(os.open(os.devnull, os.O_WRONLY), full)
    stream.close()


def test_a_full_disk_for_messages_is_the_code_alone(monkeypatch: pytest.MonkeyPatch):
    with open("/dev/full", "w", 1, encoding="utf-8") as full:  # noqa: PTH123
        monkeypatch.setattr(sys, "stderr", full)
        print_error("error: nobody reads this")
        assert main(["show", "none.mlir"]) == 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_letters_that_the_output_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    program = tmp_path / "größe.mlir"
    program.write_text(
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%a: tensor<4xf32>"
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) { return }'
    )
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["why", str(program)]) == 1
    assert capsys.readouterr().err.startswith(
        "error: cannot write standard output: ascii has no '"
    )


# --- interrupts ---------------------------------------------------------------------


def test_the_first_ends_the_work_and_another_all(monkeypatch: pytest.MonkeyPatch):
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(os, "write", lambda *_: 0)
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts.handle(signal.SIGINT, None)
    assert ended == []
    # the second, which raises as well only because the process goes on here
    with pytest.raises(KeyboardInterrupt):
        interrupts.handle(signal.SIGINT, None)
    assert ended == [130]


def test_one_that_python_drops_ends_the_process(monkeypatch: pytest.MonkeyPatch):
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(os, "write", lambda *_: 0)
    monkeypatch.setattr(sys, "unraisablehook", Interrupts().dropped)

    class Freed:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    Freed()
    assert ended == [130]


def test_an_interrupt_is_a_line_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "make_parser", interrupt)
    assert main(["run"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


# --- as a process -------------------------------------------------------------------


def start(*words: str, command: str | None = None) -> subprocess.Popen[bytes]:
    """A command, or a shell's line about it."""
    own = [sys.executable, "-m", "ttxdsl.tools.main", *words]
    if command is not None:
        own = ["sh", "-c", command, "sh", *own]
    return subprocess.Popen(own, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (
            ">/dev/full",
            b"error: cannot write standard output: No space left on device\n",
        ),
        (">&-", b"error: cannot write standard output: Bad file descriptor\n"),
        (">&- 2>&- <&-", b""),
    ],
)
def test_outputs_that_are_none(redirection: str, said: bytes):
    """Nor does the interpreter say anything when it ends."""
    with start("--version", command=f'exec "$@" {redirection}') as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (1, b"", said)


_INTERRUPTED = """\
import os, signal, sys
# whoever runs the tests in the background may have started them deaf to it
signal.signal(signal.SIGINT, signal.default_int_handler)
place = sys.argv[1]
class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == place:
            print("there", flush=True)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from ttxdsl.tools.main import script
sys.argv = ["ttxdsl", *sys.argv[2:]]
sys.exit(script())
"""


@pytest.mark.parametrize(
    "name",
    [
        "ttxdsl.tools.process",  # the first that is imported
        "ttxdsl.ir.collector",
        "xdsl.parser",
        "ttxdsl.transforms.pipeline",
        "ttxdsl.conversion.ttir_to_ttnn",  # while compiling
    ],
)
def test_interrupted_at_an_import(name: str):
    command = [sys.executable, "-c", _INTERRUPTED, name, "compile", str(MLP)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    said = (done.returncode, done.stdout, done.stderr)
    assert said == (130, b"there\n", b"interrupted\n")
