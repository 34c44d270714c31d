"""``python -m lrnn`` is the ``lrnn`` command."""

from lrnn.cli import main

if __name__ == "__main__":
    main()
