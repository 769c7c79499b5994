"""Checks of contents and actions."""
