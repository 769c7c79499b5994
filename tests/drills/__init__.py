"""Stops drilled where they take hold, on real stores and a real clock."""
