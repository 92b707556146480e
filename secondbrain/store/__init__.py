"""The room that makes and reads the file.

In: admitted rows and a verified candidate set, or a built file. Out: a finished file, readers bound to
one generation of it, audits. Two SQLite libraries live here and never meet on one open file:
sqlite-utils writes a private temporary file, apsw reads the finished one. Never here: ranking, and
any healing of a damaged file.
"""
