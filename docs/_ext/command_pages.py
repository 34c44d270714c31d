"""The pages of the command line, made from the command line itself."""

import re
from pathlib import Path

import typer

from lrnn.cli.app import app as command_line


def _markdown(text):
    """A help text; what Rich makes bold is something to type."""
    text = re.sub(r"([\\*<|_\[])", r"\\\1", text.replace("\\[", "["))
    return re.sub(r"\\\[bold\](.*?)\\\[/bold\]", _typed, text)


def _typed(found):
    return "`" + re.sub(r"\\([^\w\s])", r"\1", found[1]) + "`"


def _examples_apart(help_text):
    """Paragraphs as they are; those that are indented are commands to type."""
    made, typed = [], []
    for paragraph in [*help_text.split("\n\n"), ""]:
        if paragraph.startswith("    "):
            typed.append("\n".join(line[4:] for line in paragraph.splitlines()))
            continue
        if typed:
            made.append("```sh\n" + "\n".join(typed) + "\n```")
            typed = []
        if paragraph:
            made.append(_markdown(paragraph))
    return "\n\n".join(made)


def _parameter(parameter, context):
    """A line of the table: names, what is given with them, what it means."""
    record = parameter.get_help_record(context)
    if record is None:  # hidden, or an argument without help
        return None
    name, text = record
    name = name.strip().replace("|", r"\|")
    return f"| `{name}` | {_markdown(' '.join(text.split()))} |"


def _section(command, context, level):
    """One command, and those in it."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"{'#' * level} {context.command_path}", ""]
    lines += [_examples_apart((command.help or "").strip()), "", f"```text\n{usage}\n```", ""]
    rows = [_parameter(p, context) for p in command.get_params(context)]
    rows = [row for row in rows if row]
    if rows:
        lines += ["| what may be given | what it means |", "|---|---|", *rows, ""]
    for name in command.list_commands(context) if hasattr(command, "list_commands") else []:
        inner = command.get_command(context, name)
        lines += _section(inner, type(context)(inner, info_name=name, parent=context), level + 1)
    return lines


def pages():
    """Each command's page by its name."""
    group = typer.main.get_command(command_line)
    context = group.make_context("lrnn", [], resilient_parsing=True)
    made = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = type(context)(command, info_name=name, parent=context)
        made[name] = "\n".join(_section(command, inner, 1))
    return made


def _write(app):
    folder = Path(app.srcdir, "reference", "commands")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        file = folder / f"{name}.md"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
