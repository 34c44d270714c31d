"""Where a report was made, and with what."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import lrnn

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def machine() -> list[tuple[str, str]]:
    """Facts about this machine and its software."""
    return [
        ("lrnn", lrnn.__version__),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in PACKAGES),
        ("system", f"{platform.system()} {platform.release()}"),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    """Its name; Linux tells it in a file only."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
