"""The sdy dialect: meshes, shardings, and the ops that constrain or move shards.

Attributes wrap the values of `ttxdsl.sharding`; algorithms stay there. The pieces:

- `_sdy.attributes`: the attributes; their text is in `_sdy.syntax`, payloads that the
  theory does not need in `_sdy.values`;
- `_sdy.ops`: the ops;
- `_sdy.access`: where values keep their shardings, which mesh a sharding means;
- `_sdy.verify`, `_sdy.verify_ops`: the constraints of values, and of ops in modules.

Importing this gives xDSL's module op a trait that checks `sdy.` attributes.

What these define is importable from here without a list.

Source: Shardy's dialect documentation.
"""

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.dialects._sdy.access import *
from ttxdsl.dialects._sdy.attributes import *
from ttxdsl.dialects._sdy.canonicalize import *
from ttxdsl.dialects._sdy.ops import *
from ttxdsl.dialects._sdy.registry import CHECKS, REWRITES
from ttxdsl.dialects._sdy.values import *
from ttxdsl.dialects._sdy.verify_ops import *
from ttxdsl.dialects.definitions import dialect_of
from ttxdsl.sharding.reshard.collectives import AllToAllParam as AllToAllParam
from ttxdsl.sharding.step import PropagationDirection as PropagationDirection

CHECKS.append(verify_op)
REWRITES.update(PATTERNS)

Sdy = dialect_of("sdy", "ttxdsl.dialects._sdy", globals().values())

ModuleOp.traits.add_trait(ShardingsVerify())
