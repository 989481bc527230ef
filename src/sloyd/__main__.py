"""``python -m sloyd``."""

from __future__ import annotations

import sys

from sloyd.cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
