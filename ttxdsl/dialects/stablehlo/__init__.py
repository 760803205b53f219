"""The StableHLO dialect: every op, type and attribute of the specification.

Ops are spread over modules by the families of the specification; what these define is
importable from here without a list. `StableHLO` is the dialect object.
"""

from xdsl.ir import Attribute, Dialect, Operation

from ttxdsl.dialects.stablehlo.attributes import *
from ttxdsl.dialects.stablehlo.calls import *
from ttxdsl.dialects.stablehlo.collective import *
from ttxdsl.dialects.stablehlo.contraction import *
from ttxdsl.dialects.stablehlo.control_flow import *
from ttxdsl.dialects.stablehlo.data_movement import *
from ttxdsl.dialects.stablehlo.elementwise import *
from ttxdsl.dialects.stablehlo.indexing import *
from ttxdsl.dialects.stablehlo.normalization import *
from ttxdsl.dialects.stablehlo.reduction import *
from ttxdsl.dialects.stablehlo.rng import *
from ttxdsl.dialects.stablehlo.tuples import *
from ttxdsl.dialects.stablehlo.types import *
from ttxdsl.dialects.stablehlo.windowed import *

# by the classes that they are derived from: `issubclass` asks every op of xDSL whether
# it is a base
_defined = [
    defined
    for defined in list(globals().values())
    if isinstance(defined, type)
    and defined.__module__.startswith(__name__)
    and {Operation, Attribute} & {*defined.__mro__}
    and "name" in vars(defined)
]

StableHLO = Dialect(
    "stablehlo",
    [defined for defined in _defined if Operation in defined.__mro__],
    [defined for defined in _defined if Attribute in defined.__mro__],
)
"""Whatever the modules of this package define."""
