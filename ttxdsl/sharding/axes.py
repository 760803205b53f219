"""References to mesh axes and sub-axes, and the algebra on lists of them.

An axis of size n can be split: reshaped to `[m, k, n/(m*k)]`, its middle part is the
sub-axis `"x":(m)k` with pre-size m and size k. A list of axis references shards a
dimension from major to minor.

Source: Shardy's `AxisRefAttr`, `SubAxisInfoAttr` and `AxisRefListAttr`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AxisRef:
    """A full mesh axis (`size` is None) or a sub-axis `(pre_size)size` of it."""

    name: str
    pre_size: int = 1
    size: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether this is the whole axis and not a part of it."""
        return self.size is None

    def __str__(self) -> str:
        """Shardy's text, for example `"x"` or `"x":(2)4`."""
        sub = "" if self.size is None else f":({self.pre_size}){self.size}"
        return f'"{self.name}"{sub}'
