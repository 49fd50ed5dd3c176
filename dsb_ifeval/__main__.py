"""``python -m dsb_ifeval`` is the ``dsb-ifeval`` command."""

import sys

from dsb_ifeval.cli import main

if __name__ == "__main__":
    sys.exit(main())
