"""Hydration: handles in, text out, inside the controller, authorised node by node, all or nothing.

The rules:

 1. A request names a principal, a tenant and a pinned policy revision, and at most MAX_HANDLES handles,
    each once.
 2. Every handle must be one of the opened generation; where the caller names a generation, of that one.
    ``source`` and ``sha256`` of a handle, where it has them, must match; ``strict`` wants both.
 3. Every node is authorised before any text is read. Only the object ``True`` allows; anything else that
    the authoriser returns or raises denies, and so does an authoriser that outlasts its deadline.
 4. Every text must still have its digest.
 5. One failure fails the whole call, with one message that does not say which node. The exception is
    chained to no other, and its frames hold nothing of the store. Nothing is cached: the next call asks
    the authoriser anew.
 6. What leaves states the evidence set that it answers to; its digest equals the context's.

A hydrator may be shared over threads if its authoriser may. It cannot interrupt an authoriser that
hangs: it denies as soon as the authoriser returns too late.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, NoReturn, TypeVar

from secondbrain import wire
from secondbrain.digests import canonical_sha256, is_pinned_revision, is_sha256, is_unicode, sha256_text
from secondbrain.errors import ConfigurationError, HydrationDenied
from secondbrain.retrieval.frontier import frontier_handles, verified_frontier
from secondbrain.retrieval.providers import plain
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Reader, Store

T = TypeVar("T")
Handles = Sequence[Mapping[str, Any]]
Authorizer = Callable[[str, str, str, str, str], bool]
"""Called with principal id, tenant id, policy revision, node id and source; only ``True`` allows."""
MAX_HANDLES = 128
AUTHORIZER_DEADLINE = 10.0
"""Seconds that all authoriser calls of one request may take together."""
DENIED = "hydration denied: not every handle is known, unchanged and authorised; nothing was released"


class _Stored(NamedTuple):
    node_id: str
    source: str
    sha256: str


class _Request(NamedTuple):
    handles: list[dict[str, Any]]
    principal_id: str
    tenant_id: str
    policy_revision: str
    generation_sha256: str | None


class _Hydrator:
    """What both hydrators share: the form of a request and the authorisation of its nodes."""

    def __init__(
        self,
        authorizer: Authorizer,
        *,
        store: Store | None = None,
        deadline: float = AUTHORIZER_DEADLINE,
    ) -> None:
        """Take the authoriser and, where it is not the default one, the store.

        ``deadline`` is the seconds that all authoriser calls of one request may take together. Raises
        ConfigurationError for an authoriser that cannot be called, or a deadline that is no time.
        """
        if not callable(authorizer):
            raise ConfigurationError("the authorizer cannot be called")
        if not isinstance(deadline, (int, float)) or not math.isfinite(deadline) or deadline < 0:
            raise ConfigurationError("deadline is no number of seconds")
        self._authorizer = authorizer
        self._store = store
        self._deadline = deadline

    def _reader(self, generation_sha256: str | None) -> Reader:
        reader = (self._store or default_store()).reader()
        if generation_sha256 is not None and generation_sha256 != reader.snapshot.generation_sha256:
            _deny()
        return reader

    def _authorize(self, reader: Reader, request: _Request, nodes: Sequence[_Stored]) -> None:
        who = request.principal_id, request.tenant_id, request.policy_revision
        end = time.monotonic() + self._deadline
        for node in nodes:
            allowed = self._authorizer(*who, node.node_id, node.source)
            if allowed is not True or time.monotonic() > end:
                _deny()
        reader.restart_deadline()  # the authoriser's time is not the store's


class AuthorizedHydrator(_Hydrator):
    """Turns handles of chunks into text for a principal whom the authoriser lets see every one of them."""

    def __init__(
        self,
        authorizer: Authorizer,
        *,
        store: Store | None = None,
        strict: bool = False,
        deadline: float = AUTHORIZER_DEADLINE,
    ) -> None:
        """As the base; ``strict`` refuses a handle without ``source`` and ``sha256``."""
        super().__init__(authorizer, store=store, deadline=deadline)
        self._strict = strict

    def hydrate(
        self,
        handles: Handles,
        *,
        principal_id: str,
        tenant_id: str,
        policy_revision: str,
        generation_sha256: str | None = None,
    ) -> wire.Hydration:
        """Return the texts of handles, in their order.

        Raises HydrationDenied for everything that is not allowed, known and unchanged; nothing is
        released then.
        """
        request = _request(handles, principal_id, tenant_id, policy_revision, generation_sha256)
        return _all_or_nothing(self._hydration, request)

    def _hydration(self, request: _Request) -> wire.Hydration:
        reader = self._reader(request.generation_sha256)
        with reader.transaction():
            stored = self._stored(reader, request.handles)
            self._authorize(reader, request, stored)
            texts = dict(reader.rows("read/texts_of_nodes", (_ids(stored),)))
        documents: list[wire.Document] = [
            {
                "node_id": one.node_id,
                "source": one.source,
                "sha256": one.sha256,
                "content": texts[one.node_id],
            }
            for one in stored
        ]
        _check_digests(documents)
        return {
            "schema": "szl.second-brain.authorized-hydration/v1",
            "state": "AUTHORIZED_CONTENT_READY",
            "ready": True,
            "content_access": "CONTROLLER_ONLY",
            "principal_id_sha256": sha256_text(request.principal_id),
            "tenant_id_sha256": sha256_text(request.tenant_id),
            "policy_revision": request.policy_revision,
            "evidence_set_sha256": canonical_sha256([one._asdict() for one in stored]),
            "documents": documents,
            "generation_sha256": reader.snapshot.generation_sha256,
            "raw_graph_nodes_admitted_to_gradients": 0,
        }

    def _stored(self, reader: Reader, handles: Sequence[dict[str, Any]]) -> list[_Stored]:
        ids = [handle["nodeId"] for handle in handles]
        rows = {
            node_id: _Stored(node_id, source, sha256)
            for node_id, _, source, sha256 in reader.rows("read/nodes", (json.dumps(ids),))
        }
        stored = [rows[node_id] for node_id in ids]
        for handle, one in zip(handles, stored, strict=True):
            bound = {"source": one.source, "sha256": one.sha256}
            if any(
                (name in handle or self._strict) and plain(handle.get(name)) != bound[name] for name in bound
            ):
                _deny()
        return stored


class AuthorizedFrontierHydrator(_Hydrator):
    """Turns frontier handles into candidate content for an authorised reviewer.

    The same call and rules; a handle must equal the stored one in full, and the authoriser's
    ``source`` is the repository.
    """

    def hydrate(
        self,
        handles: Handles,
        *,
        principal_id: str,
        tenant_id: str,
        policy_revision: str,
        generation_sha256: str | None = None,
    ) -> wire.FrontierHydration:
        """Return the content of candidates, in the handles' order, for review and nothing else.

        Raises HydrationDenied for everything that is not allowed, known and unchanged.
        """
        request = _request(handles, principal_id, tenant_id, policy_revision, generation_sha256)
        return _all_or_nothing(self._hydration, request)

    def _hydration(self, request: _Request) -> wire.FrontierHydration:
        reader = self._reader(request.generation_sha256)
        with reader.transaction():
            state = verified_frontier(reader)
            known = frontier_handles(reader)
            chosen = [known[handle["nodeId"]] for handle in request.handles]
            if list(request.handles) != chosen:
                _deny()
            nodes = [_Stored(one["nodeId"], one["repository"], one["sha256"]) for one in chosen]
            self._authorize(reader, request, nodes)
            contents = dict(reader.rows("read/contents_of_candidates", (_ids(nodes),)))
        documents: list[wire.FrontierDocument] = [
            {
                "node_id": one["nodeId"],
                "title": one["title"],
                "source_repository": one["repository"],
                "source_revision": one["revision"],
                "source_path": one["path"],
                "sha256": one["sha256"],
                "content": contents[one["nodeId"]],
                "candidate_state": "DISCOVERED_REVIEW_REQUIRED",
                "authority": "NONE",
            }
            for one in chosen
        ]
        _check_digests(documents)
        return {
            "schema": "szl.second-brain.frontier-hydration/v1",
            "state": "AUTHORIZED_REVIEW_CONTENT_READY",
            "ready": True,
            "content_access": "CONTROLLER_ONLY",
            "principal_id_sha256": sha256_text(request.principal_id),
            "tenant_id_sha256": sha256_text(request.tenant_id),
            "policy_revision": request.policy_revision,
            "evidence_set_sha256": canonical_sha256(chosen),
            "documents": documents,
            "generation_sha256": reader.snapshot.generation_sha256,
            "candidate_set_sha256": state["candidate_set_sha256"],
            "raw_graph_nodes_admitted_to_gradients": 0,
        }


def _all_or_nothing(step: Callable[[_Request], T], request: _Request) -> T:
    """Return what a step gives; turn every failure in it into one denial that carries nothing of it."""
    try:
        return step(request)
    except Exception:
        pass
    # Out of the handler: what is raised in one carries the first exception, its frames and their texts.
    raise HydrationDenied(DENIED)


def _request(
    handles: object,
    principal_id: object,
    tenant_id: object,
    policy_revision: object,
    generation_sha256: object,
) -> _Request:
    """Return a request in its form by rule 1; its handles are copies that nobody else can change."""
    for name, value in (("principal_id", principal_id), ("tenant_id", tenant_id)):
        if not isinstance(value, str) or not value.strip() or not is_unicode(value):
            raise HydrationDenied(f"hydration denied: {name} is no text")
    if not is_pinned_revision(policy_revision):
        raise HydrationDenied(
            "hydration denied: policy_revision is not pinned: 40 hexadecimal digits, or sha256: and 64"
        )
    if generation_sha256 is not None and not is_sha256(generation_sha256):
        raise HydrationDenied("hydration denied: generation_sha256 is not 64 hexadecimal digits")
    if not isinstance(handles, Sequence) or isinstance(handles, (str, bytes)):
        raise HydrationDenied("hydration denied: handles is no sequence")
    if not 1 <= (count := _stated_length(handles)) <= MAX_HANDLES:
        raise HydrationDenied(f"hydration denied: {count} handles; 1 to {MAX_HANDLES} are taken at once")
    copies = _copies(handles)
    ids = [handle.get("nodeId") for handle in copies]
    if (
        not all(isinstance(node_id, str) for node_id in ids)
        or not 1 <= len(set(ids)) == len(ids) <= MAX_HANDLES
    ):
        _deny()
    return _Request(copies, principal_id, tenant_id, policy_revision, generation_sha256)  # type: ignore[arg-type]


def _stated_length(handles: Sequence[object]) -> int:
    try:
        return len(handles)
    except Exception:
        return 1  # what it holds is counted anew below


def _copies(handles: Sequence[object]) -> list[dict[str, Any]]:
    try:
        # A sequence may lie about its length.
        return [dict(one) if isinstance(one, Mapping) else {} for one in islice(handles, MAX_HANDLES + 1)]
    except Exception:
        return []  # denied: a request has at least one


def _check_digests(documents: Sequence[wire.Document] | Sequence[wire.FrontierDocument]) -> None:
    if any(sha256_text(document["content"]) != document["sha256"] for document in documents):
        _deny()


def _ids(nodes: Sequence[_Stored]) -> str:
    return json.dumps([node.node_id for node in nodes])


def _deny() -> NoReturn:
    raise HydrationDenied(DENIED)
