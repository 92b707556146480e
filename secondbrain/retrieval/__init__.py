"""The room that ranks.

In: a query and an opened store, and providers where configured. Out: handles, evidence and a receipt of
how the ranking came about. Never here: the text of a chunk in any result, a rank called truth, or a
mode that did not run.
"""
