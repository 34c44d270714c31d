"""Write numpy.inv: the names of NumPy that our pages refer to."""

import zlib
from pathlib import Path

HEADER = """# Sphinx inventory version 2
# Project: NumPy
# Version: 2
# The remainder of this file is compressed using zlib.
"""

ENTRIES = [
    ("numpy", "py:module", "reference/index.html#module-numpy"),
    ("numpy.ndarray", "py:class", "reference/generated/numpy.ndarray.html#$"),
    ("numpy.random.Generator", "py:class", "reference/random/generator.html#$"),
    ("numpy.random.RandomState", "py:class", "reference/random/legacy.html#$"),
    ("numpy.memmap", "py:class", "reference/generated/numpy.memmap.html#$"),
    ("numpy.inf", "py:data", "reference/constants.html#$"),
    ("numpy.nan", "py:data", "reference/constants.html#$"),
    ("array_like", "std:term", "glossary.html#term-array_like"),
    ("arrays.scalars", "std:label", "reference/arrays.scalars.html#arrays-scalars"),
]

if __name__ == "__main__":
    lines = "".join(f"{name} {kind} 1 {place} -\n" for name, kind, place in ENTRIES)
    content = HEADER.encode() + zlib.compress(lines.encode())
    Path(__file__).with_name("numpy.inv").write_bytes(content)
