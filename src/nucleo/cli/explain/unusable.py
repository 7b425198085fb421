"""What ``nucleo explain`` raises for input it can do nothing with."""


class UnusableInputError(Exception):
    """What was given cannot be explained; the message says what to give instead."""
