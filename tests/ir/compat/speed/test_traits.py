"""What a class answers about its traits is kept until some class gets another one."""

from __future__ import annotations

from xdsl.dialects import test
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.traits import HasParent, IsTerminator, NoTerminator, Pure

from ttxdsl.ir.compat import mend_xdsl


def test_traits_are_found_also_when_they_come_later():
    mend_xdsl()

    @irdl_op_definition
    class LaterOp(IRDLOperation):
        name = "mine.later"
        traits = traits_def(Pure(), HasParent(test.TestOp))

    for _ in range(2):
        assert LaterOp.get_trait(Pure) == Pure()
        assert LaterOp.has_trait(HasParent(test.TestOp)) and LaterOp().has_trait(
            HasParent
        )
        assert not LaterOp.has_trait(HasParent(UnregisteredOp))
        assert LaterOp.get_trait(IsTerminator) is None
        assert LaterOp.get_traits_of_type(NoTerminator) == []
    LaterOp.get_traits_of_type(Pure).clear()  # a list of one's own
    assert LaterOp.get_traits_of_type(Pure) == [Pure()]
    LaterOp.traits.add_trait(IsTerminator())
    assert LaterOp.has_trait(IsTerminator)
    assert LaterOp.get_traits_of_type(IsTerminator) == [IsTerminator()]


def test_what_nobody_registered_answers_as_it_is_asked():
    mend_xdsl()
    op = UnregisteredOp.with_name("mine.unknown").create()
    assert op.has_trait(Pure) and not op.has_trait(Pure, value_if_unregistered=False)
