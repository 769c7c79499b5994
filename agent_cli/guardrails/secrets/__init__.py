"""Secrets in texts: what they look like, and texts without them."""
