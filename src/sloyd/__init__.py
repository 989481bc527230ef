"""Sloyd: a coding agent for the terminal, and a typed toolkit for building agents."""

__version__ = "0.1.0"
