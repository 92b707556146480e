"""The measure: how well is found, on any collection in BEIR form.

In: a collection with judgements. Out: standard figures by a standard evaluator, and the run behind them.
Never here: a figure that was not measured in this run.
"""
