"""The command line. Printing happens here, and only here."""
