"""`lrnn benchmark` in all its kinds, as docs/benchmarks.md has it.

pip install 'lrnn[torch]' torchnmf                        # for fit, encode, scale
pip install ciw brian2 cython 'numpy<2.4'                 # for simulate
LRNN_DATA_DIR=... python benchmarks/side_by_side.py fit encode simulate scale
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from common import report

MNIST = ("--data", "mnist", "--hidden", "100")
KINDS = {"fit": (), "encode": MNIST, "simulate": MNIST, "scale": (*MNIST, "--against", "nmf-cd")}


def measured(kind: str) -> dict[str, object]:
    """What the command writes."""
    with TemporaryDirectory() as folder:
        command = ["lrnn", "benchmark", kind, *KINDS[kind], "-o", f"{folder}/{kind}", "--quiet"]
        subprocess.run([sys.executable, "-m", *command], check=True)
        return dict(json.loads((Path(folder) / kind / "results.json").read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="+", choices=KINDS)
    for kind in parser.parse_args().kinds:
        found = measured(kind)
        if found["left_out"]:
            raise SystemExit(f"{kind}: all contenders are to take part, but: {found['left_out']}")
        rows = [{k: v for k, v in row.items() if k != "curve"} for row in found["rows"]]
        report(f"side_by_side_{kind}", found["title"], rows)


if __name__ == "__main__":
    main()
