"""sqlite3: faults of operation only. A statement that is wrong is a defect of the tool.

Source: https://www.sqlite.org/rescode.html. A failed statement is rolled back, so its outcome is known.
"""

from typing import Final

from nucleo.errors.root import LLMReadableException
from nucleo.errors.services import ExternalServiceException
from nucleo.errors.translate.foreign import attribute

_WORDS: Final = {
    5: "the database is busy with somebody else's write",  # SQLITE_BUSY
    6: "the table is busy with another statement",  # SQLITE_LOCKED
    7: "the database ran out of memory",  # SQLITE_NOMEM
    8: "the database cannot be written to",  # SQLITE_READONLY
    10: "the disk of the database failed",  # SQLITE_IOERR
    11: "the database file is damaged",  # SQLITE_CORRUPT
    13: "the disk of the database is full",  # SQLITE_FULL
    14: "the database could not be opened",  # SQLITE_CANTOPEN
    15: "the locks of the database failed",  # SQLITE_PROTOCOL
    26: "the file is not a database",  # SQLITE_NOTADB
}
_PRIMARY = 0xFF
"""The low byte of an extended result code is its primary code."""


def translation(error: Exception, service: str | None) -> LLMReadableException | None:
    """Translate an operational fault of sqlite3, by its result code."""
    code = attribute(error, "sqlite_errorcode")
    words = _WORDS.get(code & _PRIMARY) if isinstance(code, int) else None
    return None if words is None else ExternalServiceException(service or "sqlite3", words)
