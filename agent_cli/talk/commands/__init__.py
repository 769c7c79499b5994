"""What is typed behind a slash: a module for each theme, and the book that lists them."""
