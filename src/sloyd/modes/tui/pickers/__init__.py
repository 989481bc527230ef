"""The modal screens from which something is picked."""
