"""A conversation that lasts: its file, its tree, its context, and what can be done with them.

`sloyd.sessions.session.Session` is where to begin.
"""
