"""Names of the leaves of pytrees, where JAX names arguments by their paths."""

import re

_COLLECTION = re.compile(r"\w+\['params'\](?=\[)")
_KEY = re.compile(r"\['([A-Za-z_]\w*)'\]")


def leaf_name(path: str) -> str:
    """A parameter by its path, without what all parameters of a flax model share.

    `params['params']['layers_0']['up']['kernel']` is `layers_0.up.kernel`; other paths
    stay as they are.
    """
    match = _COLLECTION.match(path)
    if match is None:
        return path
    return _KEY.sub(r".\1", path[match.end() :]).removeprefix(".")
