"""``python -m secondbrain.cli``: the command line where no script is installed."""

from secondbrain.cli import main

main()
