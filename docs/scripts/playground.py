"""Builds the page that runs ttxdsl in a browser: `python docs/scripts/playground.py`.

Into `build/site/playground` come the page itself (`docs/playground`), Pyodide from the
registry of npm, and one archive of ttxdsl and the pure-Python packages that it needs. The
page is served from that folder and asks nothing else of the network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site" / "playground"
SOURCES = ROOT / "docs" / "playground"

VERSION = "314.0.7"
TARBALL = f"https://registry.npmjs.org/pyodide/-/pyodide-{VERSION}.tgz"
SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
RUNTIME = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
    *("pyodide-lock.json", "python_stdlib.zip"),
)
"""What a page loads of it."""

PACKAGES = "xdsl", "immutabledict", "ordered-set", "typing-extensions", "rich"
"""Of Python, beside ttxdsl; what computes needs NumPy, which the page does without."""

EXAMPLES = "transformer_block.mlir", "mlp_train_step.mlir", "mlp_tensor_parallel.mlir"


def tarball() -> bytes:
    """Return Pyodide's package, kept in `build/cache`.

    Raises:
        OSError: the registry cannot be reached.
        HTTPException: it was cut off.
        ValueError: what it answers is another package.
    """
    kept = ROOT / "build" / "cache" / f"pyodide-{VERSION}.tgz"
    if kept.exists():
        data = kept.read_bytes()
    else:
        with urllib.request.urlopen(TARBALL, timeout=60) as answer:
            data = answer.read()
    if base64.b64encode(hashlib.sha512(data).digest()).decode() != SHA512:
        kept.unlink(missing_ok=True)
        raise ValueError(f"{TARBALL} is not the package that was looked at")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(data)
    return data


def python_files() -> Iterator[tuple[Path, str]]:
    """Yield the files of all packages, with the paths that they have when installed."""
    for path in sorted((ROOT / "ttxdsl").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path, str(path.relative_to(ROOT))
    for name in PACKAGES:
        for file in distribution(name).files or ():
            if file.suffix in (".py", ".txt") or file.name == "METADATA":
                yield Path(str(file.locate())), str(file)
    # the command line's own data: entry points, versions
    for file in distribution("ttxdsl").files or ():
        if file.name in ("METADATA", "entry_points.txt"):
            yield Path(str(file.locate())), str(file)
    answers = SOURCES / "playground_answers.py"
    yield answers, answers.name


def build(folder: Path) -> None:
    """Write the page into a folder."""
    runtime = folder / "pyodide"
    runtime.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=BytesIO(tarball())) as archive:
        for name in RUNTIME:
            member = archive.extractfile(f"package/{name}")
            assert member is not None, "a file"
            (runtime / name).write_bytes(member.read())
    with ZipFile(folder / "packages.zip", "w", ZIP_DEFLATED) as packages:
        for path, name in python_files():
            packages.write(path, name)
    for name in ("index.html", "playground.js", "worker.js"):
        shutil.copy(SOURCES / name, folder)
    examples = folder / "examples"
    examples.mkdir(exist_ok=True)
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, examples)
    (examples / "index.json").write_text(json.dumps(EXAMPLES))


def main() -> None:
    """Build the page beside the site, or say why that cannot be."""
    try:
        build(SITE)
    except (OSError, HTTPException) as error:
        print(f"The playground is not built: {TARBALL}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
