"""Nucleo: failures that behave."""
