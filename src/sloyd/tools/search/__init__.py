"""Searching a tree of files: patterns for names, ignore rules, the walk, and two engines."""
