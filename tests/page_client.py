"""The page of a brain without the application around it, for tests that need no browser."""

from starlette.applications import Starlette
from starlette.testclient import TestClient

from secondbrain import HybridSecondBrain, Store
from secondbrain.space.page import page_routes


def client(brain: HybridSecondBrain | Store) -> TestClient:
    """Return a client of the page's routes."""
    brain = HybridSecondBrain(brain) if isinstance(brain, Store) else brain
    return TestClient(Starlette(routes=page_routes(brain)))
