"""What a wheel and an sdist hold: sizes, and that nothing is there, or missing, by mistake."""

import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

wheel, sdist = map(Path, sys.argv[1:])
NEEDED = {
    "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "src/lrnn/py.typed",
    "tests/conftest.py", "tests/data/public_names.txt", "benchmarks/side_by_side.py", ".ci/run",
    "docs/architecture.md", "examples/from_nmf.py", "reproduction/__main__.py",
    "reproduction/claims.toml", "reproduction/page.md",
}  # fmt: skip

with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    whole = sum(part.file_size for part in archive.infolist())
foreign = [
    n for n in names if not n.startswith(("lrnn/", f"lrnn-{wheel.name.split('-')[1]}.dist-info/"))
]
kinds = Counter(Path(n).suffix for n in names if n.startswith("lrnn/"))
assert not foreign, foreign
assert set(kinds) <= {".py", ".html", ".css", ".js", ".toml", ".typed", ""}, kinds
assert {"lrnn/py.typed", "lrnn/datasets/datasets.toml"} <= set(names)
outside = [n for n in names if {"benchmark", "benchmarks"} & set(Path(n).with_suffix("").parts)]
assert not outside, outside  # they stand beside the package
print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {whole:,} unpacked, {len(names)} files")
print("  " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))

with tarfile.open(sdist) as archive:
    parts = {m.name.partition("/")[2]: m.size for m in archive.getmembers() if m.isfile()}
missing = NEEDED - parts.keys()
assert not missing, missing
assert not any("_build" in name or "__pycache__" in name for name in parts)
rooms = Counter()
for name, size in parts.items():
    rooms[name.split("/")[0] if "/" in name else "(root)"] += size
whole = sum(parts.values())
print(f"{sdist.name}: {sdist.stat().st_size:,} bytes, {whole:,} unpacked, {len(parts)} files")
print("  " + ", ".join(f"{room} {size:,}" for room, size in rooms.most_common()))
