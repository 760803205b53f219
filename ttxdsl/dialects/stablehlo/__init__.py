"""The StableHLO dialect: every op, type and attribute of the specification.

Ops are spread over modules by the families of the specification; what these define is
importable from here without a list. `StableHLO` is the dialect object.
"""

from ttxdsl.dialects.definitions import dialect_of
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

StableHLO = dialect_of("stablehlo", __name__, globals().values())
"""Whatever the modules of this package define."""
