"""Links that a repository browser follows, on the site: examples are pages of the gallery."""

import re

EXAMPLE = re.compile(r"\]\(((?:\.\./)+)examples/(\w+)\.py\)")


def _to_gallery(app, name, source):
    up = "../" * name.count("/")
    source[0] = EXAMPLE.sub(lambda found: f"]({up}gallery/{found[2]}.rst)", source[0])


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", _to_gallery)
    return {"parallel_read_safe": True}
