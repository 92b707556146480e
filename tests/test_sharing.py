"""What may be shared: one store, brain and hydrator over threads, tasks and forks."""

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from conftest import ROWS, row, write_projection
from simulated_providers import FixedDense, hit

from secondbrain import AuthorizedHydrator, HybridSecondBrain, Store
from secondbrain.digests import canonical_json
from secondbrain.store.build import build

QUERIES = [
    "receipt chain",
    "run ledger",
    "locked formula",
    "Λ",
    "中文合約",
    "zebra",
    "",
    "OpenFile stand",
    "order truth",
]
WHO = {"principal_id": "p", "tenant_id": "t", "policy_revision": "a" * 40}


def answers(brain):
    return [canonical_json(brain.context(query, 12)) for query in QUERIES]


def hydrated(hydrator, brain):
    return canonical_json(hydrator.hydrate(brain.context(QUERIES[0])["handles"], **WHO))


def test_one_brain_and_one_hydrator_answer_in_eight_threads_as_in_one(store):
    provider = FixedDense(store, [hit(store, "note:1", 0.9)])
    brain = HybridSecondBrain(store, dense_provider=provider)
    hydrator = AuthorizedHydrator(lambda *request: True, store=store)
    alone = answers(brain), hydrated(hydrator, brain)
    at_once = threading.Barrier(8)

    def work(_):
        at_once.wait()
        return [(answers(brain), hydrated(hydrator, brain)) for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(work, range(8)):
            assert results == [alone] * 10


def test_tasks_of_one_loop_share_a_brain_on_the_loop_and_on_threads(store):
    brain = HybridSecondBrain(store)
    hydrator = AuthorizedHydrator(lambda *request: True, store=store)
    alone = answers(brain), hydrated(hydrator, brain)

    async def on_the_loop():
        found = []
        for query in QUERIES:
            found.append(canonical_json(brain.context(query, 12)))
            await asyncio.sleep(0)
        return found, hydrated(hydrator, brain)

    async def on_a_thread():
        return await asyncio.to_thread(lambda: (answers(brain), hydrated(hydrator, brain)))

    async def all_together():
        return await asyncio.gather(*(task() for _ in range(6) for task in (on_the_loop, on_a_thread)))

    assert asyncio.run(all_together()) == [alone] * 12


FORK = """
import json, os, sys, threading
from secondbrain import AuthorizedHydrator, HybridSecondBrain, Store
from secondbrain.digests import canonical_json
queries, who, path = json.loads(sys.argv[1])
brain = HybridSecondBrain(Store(path))
hydrator = AuthorizedHydrator(lambda *request: True, store=brain.store)
def everything():
    found = [canonical_json(brain.context(query, 12)) for query in queries]
    return found + [canonical_json(hydrator.hydrate(brain.context(queries[0])["handles"], **who))]
before = everything()
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0 if everything() == before else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert everything() == before
print(codes)
"""


def test_a_brain_opened_before_a_fork_answers_in_parent_and_children(store):
    # A process of its own: forking the test runner, which has threads, is what Python warns of.
    done = subprocess.run(
        [sys.executable, "-c", FORK, json.dumps([QUERIES, WHO, str(store.path)])],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[0, 0, 0]"


def test_no_request_mixes_two_generations_while_the_file_is_replaced(tmp_path):
    one = write_projection(tmp_path / "one.jsonl", ROWS)
    two = write_projection(
        tmp_path / "two.jsonl", [row(r["id"], r["text"] + " Later.", source=r["source"]) for r in ROWS]
    )
    built = [build(path, tmp_path / f"{path.stem}.db") for path in (one, two)]
    digests = {}
    for path, result in zip((one, two), built, strict=True):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        digests[result.generation_sha256] = {r["id"]: r["sha256"] for r in rows}
    build(one, tmp_path / "live.db")
    brain = HybridSecondBrain(Store(tmp_path / "live.db"))
    hydrator = AuthorizedHydrator(lambda *request: True, store=brain.store)
    stop = threading.Event()
    seen = set()

    def ask():
        while not stop.is_set():
            context = brain.context("receipt chain order")
            assert context["state"] == "GROUNDED_HANDLES_READY", context["error_type"]
            seen.add(context["generation_sha256"])
            for handle in context["handles"]:
                assert digests[context["generation_sha256"]][handle["nodeId"]] == handle["sha256"]
            four_keys = [{"nodeId": handle["nodeId"]} for handle in context["handles"]]
            hydration = hydrator.hydrate(four_keys, **WHO)
            for document in hydration["documents"]:
                assert digests[hydration["generation_sha256"]][document["node_id"]] == document["sha256"]

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask) for _ in range(3)]
        for at in range(6):
            build((two, one)[at % 2], tmp_path / "live.db")
        stop.set()
        for one_asking in asking:
            one_asking.result()
    assert seen == set(digests)


def test_a_reader_belongs_to_its_thread(store):
    mine = store.reader()
    assert store.reader() is mine
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(store.reader).result() is not mine
