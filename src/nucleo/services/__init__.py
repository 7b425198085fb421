"""Reference clients: real services, each with its quirks mapped onto the failure set.

Small on purpose: they show how little a client of one's own needs, and are tested against recorded answers.
"""

from nucleo.services.pubchem import Compound, PubChem, Throttling, pubchem_tools

__all__ = ("Compound", "PubChem", "Throttling", "pubchem_tools")
