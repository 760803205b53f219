"""Mends to xDSL 0.74: small, each naming the fault, each with a test."""

from __future__ import annotations


def mend_xdsl() -> None:
    """Apply every mend once; calling it again changes nothing."""
