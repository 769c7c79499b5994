"""A calculator with a mistake in it, for a first run of the agent."""


def multiply(a: float, b: float) -> float:
    return a + b


def divide(a: float, b: float) -> float:
    return a / b
