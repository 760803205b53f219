"""Names as MLIR writes them: string literals and symbol references."""

import re

_BARE_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def quoted(text: str) -> str:
    """`text` as an MLIR string literal; `"` and unprintable bytes become `\\XX`."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    escaped: list[str] = []
    for byte in text.encode():
        character = chr(byte)
        if character == "\\":
            escaped.append("\\\\")
        elif 0x20 <= byte < 0x7F and character != '"':
            escaped.append(character)
        else:
            escaped.append(f"\\{byte:02X}")
    return f'"{"".join(escaped)}"'


def symbol(name: str) -> str:
    """Return a symbol reference, quoted where MLIR quotes it: `@mesh`, `@"my mesh"`."""
    return f"@{name}" if _BARE_IDENTIFIER.fullmatch(name) else f"@{quoted(name)}"
