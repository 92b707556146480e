"""The public names: one whole list, and the same API under the name that existing callers use."""

import inspect
import subprocess
import sys
from importlib.metadata import version

import second_brain
import secondbrain
from secondbrain import errors


def test_all_lists_every_public_name_once_and_in_order():
    assert sorted(set(secondbrain.__all__)) == secondbrain.__all__
    public = {
        name
        for name, value in vars(secondbrain).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(secondbrain.__all__)


def test_every_exception_of_the_tree_is_public():
    tree = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert tree <= set(secondbrain.__all__)
    for name in tree:
        assert name in errors.__doc__
        assert issubclass(getattr(errors, name), errors.SecondBrainError)


def test_every_public_name_says_what_it_is():
    for name in secondbrain.__all__:
        assert inspect.getdoc(getattr(secondbrain, name))


def test_second_brain_is_the_same_api():
    assert second_brain.__all__ == secondbrain.__all__
    for name in secondbrain.__all__:
        assert getattr(second_brain, name) is getattr(secondbrain, name)
    assert second_brain.__version__ == secondbrain.__version__ == version("szl-second-brain") == "1.3.0"


def test_names_that_existing_callers_use_are_there():
    assert {
        "AuthorizedHydrator",
        "HybridSecondBrain",
        "retrieve",
        "navigator_context",
        "frontier_search",
        "frontier_status",
        "anatomy_feed",
        "AuthorizedFrontierHydrator",
    } <= set(second_brain.__all__)


def test_the_search_path_loads_nothing_of_the_faces():
    code = (
        "import sys, second_brain\n"
        "second_brain.HybridSecondBrain().context('locked formula authority')\n"
        "print(' '.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "apsw" in loaded
    assert not {"starlette", "mcp", "numpy", "rich", "pydantic", "sqlite_utils", "httpx", "click"} & set(
        loaded
    )
