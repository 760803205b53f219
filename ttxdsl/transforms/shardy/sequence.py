"""Several passes under one name."""

from abc import ABC, abstractmethod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class PassSequence(ModulePass, ABC):
    """Passes one after the other, chosen by options."""

    @abstractmethod
    def passes(self) -> list[ModulePass]:
        """Return all passes in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: what one of the passes refuses.
        """
        for pass_ in self.passes():
            pass_.apply(ctx, op)
