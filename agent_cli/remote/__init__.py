"""A session of an attach server, as a front end sees any session."""
