"""The wing that turns an operator's documents and files into admitted rows.

In: Markdown folders or JSONL files. Out: rows whose digests hold, or one refusal that names file,
line and reason. Never here: a database, a partial admission, a healed row.
"""
