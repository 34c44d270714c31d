"""Tables and figures of a report as Markdown, for places that show no web pages."""

from collections.abc import Iterable, Sequence

from lrnn.report.tables import TableOf


def markdown(
    title: str, lead: Sequence[str], tables: Iterable[TableOf], figures: Iterable[tuple[str, str]]
) -> str:
    """A document of paragraphs, figures (path and caption) and tables."""
    parts = [f"# {title}", *lead]
    parts += [f"![{escaped(caption)}]({path})\n\n{escaped(caption)}" for path, caption in figures]
    parts += [table_text(table) for table in tables if table.rows]
    return "\n\n".join(parts) + "\n"


def table_text(table: TableOf) -> str:
    r"""A table with its caption.

    >>> print(table_text(TableOf("Errors", ["data", "error"], [["a|b", "0.1"]])))
    **Errors**
    <BLANKLINE>
    | data | error |
    |---|---|
    | a\|b | 0.1 |
    """
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    text = [f"| {' | '.join(map(escaped, line))} |" for line in lines]
    text[1] = f"|{'---|' * len(table.header)}"
    return "\n".join([f"**{escaped(table.caption)}**", "", *text])


def escaped(text: str) -> str:
    """Text that means nothing in Markdown."""
    for mark in ("\\", "|", "<", "*", "_", "`", "["):
        text = text.replace(mark, f"\\{mark}")
    return text
