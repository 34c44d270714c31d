"""Results as tables of a notebook."""

from collections.abc import Iterable, Sequence
from html import escape


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()
) -> str:
    """The markup of a table, which is what ``_repr_html_`` gives; all but the first are numbers.

    >>> table("", ["layer", "neurons"], [["<input>", "64"]])
    '<table><thead><tr><th>layer</th><th>neurons</th>...<th>&lt;input&gt;</th><td>64</td>...'
    """

    def line(cells: Sequence[str], kind: str) -> str:
        first, *others = map(escape, cells)
        return f"<tr><th>{first}</th>{''.join(f'<{kind}>{c}</{kind}>' for c in others)}</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(line(row, "td") for row in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    head = f"<thead>{line(header, 'th')}</thead>"
    return f"<table>{title}{head}<tbody>{body}</tbody></table>{below}"
