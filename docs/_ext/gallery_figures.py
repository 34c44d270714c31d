"""Figures that examples write into files, for sphinx-gallery, which looks for those on screen."""

from pathlib import Path

from sphinx_gallery.scrapers import figure_rst


def figures_of_example(block, variables, settings):
    """Move the figures that an example has written beside itself to the gallery."""
    moved = []
    for file in sorted(Path(variables["src_file"]).parent.glob("*.png")):
        moved.append(next(variables["image_path_iterator"]))
        file.rename(moved[-1])
    return figure_rst(moved, settings["src_dir"])
