"""The arithmetic of a small café's cash register."""

from till.receipt import Line, Receipt

__all__ = ["Line", "Receipt"]
