"""The import name that existing callers use; the same API as :mod:`secondbrain`."""

from secondbrain import *  # noqa: F403
from secondbrain import __all__, __version__  # noqa: F401
