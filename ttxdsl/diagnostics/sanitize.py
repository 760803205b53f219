"""Text of programs and file names, made safe to show: seen, never obeyed.

A name may hold what a terminal obeys (escape sequences, C1 controls, line breaks) or
what makes text read as something else (bidirectional overrides, invisible characters).
Whatever prints for people writes such characters as Python would in a string: `\\x1b`.
"""


def visible(text: str) -> str:
    """One line: every character that has no shape of its own, line breaks too, escaped.

    Those are Unicode's controls, format characters, separators other than the space,
    unpaired surrogates (undecodable bytes of file names) and what is not assigned.
    """
    return text if text.isprintable() else _escaped(text, keep="")


def visible_lines(text: str) -> str:
    """The same of text that has lines: line breaks and tabs stay."""
    between = text.replace("\n", "").replace("\t", "")
    return text if between.isprintable() else _escaped(text, keep="\n\t")


def _escaped(text: str, keep: str) -> str:
    return "".join(
        character
        if character.isprintable() or character in keep
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
