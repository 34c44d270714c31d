"""The documentation site: ``pip install '.[docs]' && sphinx-build -W docs docs/_build``.

Nothing is fetched. To build without running examples and notebooks (seconds, not minutes):
``sphinx-build -W -D plot_gallery=0 -D nb_execution_mode=off docs docs/_build``.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import lrnn  # noqa: E402

project = "lrnn"
author = "The lrnn developers"
project_copyright = author
version = release = lrnn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",  # pages in Markdown, some of which are notebooks
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_pages",
    "live_page",
    "mathml",
    "repository_links",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "inventories", "gallery/*.ipynb", "jupyter_execute"]
nitpicky = True
default_role = "code"
smartquotes = False  # options begin with two dashes
highlight_language = "none"

# Pages
html_theme = "furo"
html_title = f"lrnn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"

# Markdown
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4  # as repository browsers have them

# Notebooks
nb_execution_mode = "cache"  # again when their code changes; "force": each time
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache")
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 120
nb_merge_streams = True

# Reference
autosummary_generate = True
autodoc_typehints = "none"  # docstrings tell
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates do
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but what has a known meaning
intersphinx_mapping = {
    name: (url, str(HERE / "inventories" / f"{name}.inv"))
    for name, url in {
        "python": "https://docs.python.org/3",
        "numpy": "https://numpy.org/doc/stable",
        "scipy": "https://docs.scipy.org/doc/scipy",
        "sklearn": "https://scikit-learn.org/stable",
    }.items()
}


def without_private_signature(app, what, name, thing, options, signature, annotation):
    """Results are made by functions of ours: how does not matter, and is not shown."""
    if what == "class" and "Parameters\n" not in (thing.__doc__ or ""):
        return "", annotation
    return None


def setup(app):
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", without_private_signature)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ["gallery_figures.figures_of_example"],
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # times of this machine are nobody's business
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
}
