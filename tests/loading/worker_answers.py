"""What the workers of `test_worker.py` answer."""

import os
import time
from typing import Any


def length(question: dict[str, Any], data: bytes) -> list[Any]:
    print("said in between")
    return [question["n"], len(data), os.environ.get("MARK")]


def wrong(question: dict[str, Any], data: bytes) -> None:
    raise ValueError("not so")


def slow(question: dict[str, Any], data: bytes) -> None:
    time.sleep(60)


def abort(question: dict[str, Any], data: bytes) -> None:
    os.abort()
