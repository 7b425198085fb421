"""What is known of each library, one file a library, each loaded with the first exception of its own.

Every file has one function ``translation(error, service)``. They read the public attributes of the exceptions, by the
libraries' own documentation and sources, and import none of them.
"""
