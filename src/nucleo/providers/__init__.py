"""Clients of model providers, one package each, ignorant of each other.

A provider's own SDK is imported when its client is made, so that naming a provider costs nothing. Each is found by the
entry-point group ``nucleo.models``.
"""
