"""The command as a process: interrupts, full and closed outputs, nothing of the folder."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from ttxdsl.cli import main as entry
from ttxdsl.cli.console import print_error
from ttxdsl.cli.main import main
from ttxdsl.cli.process import Interrupts
from ttxdsl.diagnostics.remarks import doing, interrupted_text, what_is_done

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
    own = [sys.executable, "-m", "ttxdsl.cli.main", *words]
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
from ttxdsl.cli.main import script
sys.argv = ["ttxdsl", *sys.argv[2:]]
sys.exit(script())
"""


@pytest.mark.parametrize(
    "name",
    [
        "ttxdsl.cli.process",  # the first that is imported
        "ttxdsl.ir.collector",
        "xdsl.parser",
        "ttxdsl.transforms.pipeline",
        "ttxdsl.conversion.ttir_to_ttnn.convert",  # while compiling
    ],
)
def test_interrupted_at_an_import(name: str):
    command = [sys.executable, "-c", _INTERRUPTED, name, "compile", str(MLP)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (130, b"there\n")
    running = b": compile" if name.startswith("ttxdsl.conversion") else b""
    assert re.fullmatch(b"interrupted" + running + b"[^\n]*\n", done.stderr)


# --- what is running ----------------------------------------------------------------

ENDLESS = """sdy.mesh @mesh = <["b"=8]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<8xf32> {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%y = %x) : tensor<8xf32>
   cond {
    stablehlo.return %t : tensor<i1>
  } do {
    %1 = stablehlo.negate %y : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}"""

_LOOP = rb"loop at endless.mlir:4:\d+ in iteration [\d,]+ \(--max-steps N ends it\)"

_SOON = """\
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from ttxdsl.cli import console
console._SILENT = 0.05
from ttxdsl.transforms.shardy.exporting import sdy_close_shardings
if sys.argv[1] == "waits":
    sdy_close_shardings.CloseShardingsPass.apply = lambda *_: (
        print("there", flush=True), time.sleep(120)
    )
from ttxdsl.cli.main import script
sys.argv = ["ttxdsl", *sys.argv[2:]]
sys.exit(script())
"""


def on_terminal(folder: Path, until: bytes, *words: str) -> tuple[int, bytes]:
    """The exit code and the output of a command, interrupted where that is found in it."""
    terminal, follower = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 150, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _SOON, *words],
        cwd=folder,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    output, interrupted = b"", False
    while True:
        try:
            read = os.read(terminal, 1 << 12)
        except OSError:  # it has ended
            read = b""
        if not read:
            break
        output += read
        if until and not interrupted and re.search(until, output):
            process.send_signal(signal.SIGINT)
            interrupted = True
    os.close(terminal)
    return process.wait(), output


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    (tmp_path / "endless.mlir").write_text(ENDLESS)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("run", rb"run, single device, "),
        ("check", rb"check, the program itself, "),
        ("interpret --seed 0", b"interpret, "),
    ],
)
def test_a_loop_that_never_ends_says_so(words: str, where: bytes, endless: Path):
    command, *options = words.split()
    code, output = on_terminal(
        endless,
        rb"iteration [\d,]{4}[^$]*iteration",
        *("runs", command, "endless.mlir", *options),
    )
    assert code == 130
    line = rb"\r\x1b\[2K\d+ s: " + where + _LOOP
    assert len(re.findall(line, output)) > 1
    last = rb"\r\x1b\[2Kinterrupted: " + where + _LOOP + rb"\r\n$"
    assert re.search(last, output), output[-400:]
    assert output.count(b"\n") == 1


def test_a_stage_that_never_ends_says_so(endless: Path):
    command = "waits", "compile", "endless.mlir"
    code, output = on_terminal(endless, rb"stage 12", *command)
    assert code == 130
    where = rb"compile, stage 12 sdy-close-shardings"
    assert re.search(rb"\d+ s: " + where, output)
    assert re.search(rb"interrupted: " + where + rb"\r\n$", output)


def test_what_is_done_soon_says_nothing(endless: Path):
    (endless / "endless.mlir").write_text(
        ENDLESS.replace("dense<true>", "dense<false>")
    )
    code, output = on_terminal(endless, b"", "runs", "show", "endless.mlir")
    assert code == 0
    text = re.sub(rb"\r\x1b\[2K(\d+ s: [^\r]*)?", b"", output)
    assert b"@main, mesh " in text.split(b"\r\n")[0]
    # what is printed begins where the line was
    assert not re.search(rb" s: [^\r\n]*\r?\n", output)


def test_an_interrupt_says_what_was_running(endless: Path):
    command = [sys.executable, "-c", _SOON, "waits", "compile", "endless.mlir"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=endless, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == b"interrupted: compile, stage 12 sdy-close-shardings\n"


def test_what_is_done_is_told_once():
    with doing("run"), doing("stage 6"), doing(lambda: "stage 6 sdy"), doing(""):
        assert what_is_done() == "run, stage 6 sdy"
    assert what_is_done() == ""
    with pytest.raises(KeyboardInterrupt), doing("run"), doing("a loop"):
        raise KeyboardInterrupt
    assert interrupted_text() == "interrupted: run, a loop"
    assert interrupted_text() == "interrupted"
