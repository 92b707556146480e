"""A log line says which route, which status and which digest, and never what was asked."""

import json
import logging
import sys

import pytest
from space_service import serving

from secondbrain.digests import sha256_text
from secondbrain.settings import Settings
from secondbrain.space.logs import JsonLines, log_to_stdout
from secondbrain.store.opened import Store

QUERY = "unmistakable words of a caller"


def test_a_line_has_the_digest_of_the_query_and_never_the_query(store: Store) -> None:
    with serving(store) as service:
        service.get("/api/v1/hybrid", params={"query": QUERY})
        service.post("/api/v1/retrieve", {"query": QUERY})
        service.get("/api/v1/hybrid", params={"query": QUERY, "k": QUERY, QUERY: "a"})
        service.get("/api/v1/hybrid", params={"query": "a", "sources": QUERY})
        service.get(f"/{QUERY}", params={"q": QUERY}, headers={"x-request-id": QUERY, "referer": QUERY})
        service.raw(f"GET /{QUERY} HTTP/1.1\r\n\r\n".encode())
    lines = [json.loads(line) for line in service.log]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["route"], line["status"]) for line in requests[:5]] == [
        ("/api/v1/hybrid", 200),
        ("/api/v1/retrieve", 200),
        ("/api/v1/hybrid", 422),
        ("/api/v1/hybrid", 422),
        ("UNMATCHED", 404),
    ]
    assert [line.get("query_sha256") for line in requests[:2]] == [sha256_text(QUERY)] * 2
    assert requests[2]["problem"] == "unfit"
    for word in QUERY.split():
        if len(word) > 2:
            assert word not in "".join(service.log)


def test_an_answer_carries_the_request_id_of_its_line(store: Store) -> None:
    with serving(store) as service:
        answer = service.get("/api/v1/index", headers={"x-request-id": "mine"})
    [line] = [json.loads(line) for line in service.log if "/api/v1/index" in line]
    assert line["request_id"] == answer.headers["x-request-id"] != "mine"
    assert line["bytes"] == len(answer.content)
    assert line["milliseconds"] > 0


def test_an_exception_is_a_type_and_a_place_without_its_message() -> None:
    try:
        raise ValueError(QUERY)
    except ValueError:
        record = logging.LogRecord("any", logging.ERROR, __file__, 1, QUERY, (), sys.exc_info())
    line = JsonLines().format(record)
    assert QUERY not in line
    assert json.loads(line)["error_type"] == "ValueError"
    assert "test_space_logs.py" in json.loads(line)["raised_at"]


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    error = ValueError(QUERY)
    record = logging.LogRecord("any", logging.ERROR, __file__, 1, "said", (), (ValueError, error, None))
    assert json.loads(JsonLines().format(record))["raised_at"] == "unknown"


def test_every_line_of_the_process_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        log_to_stdout()
        logging.getLogger("another").warning("said %s", "so")
    finally:
        logging.getLogger().handlers[:] = before[0]
        logging.getLogger().setLevel(before[1])
    line = json.loads(capsys.readouterr().out)
    assert (line["event"], line["logger"], line["level"]) == ("said so", "another", "WARNING")


def test_metrics_count_by_route_and_are_off_by_default(store: Store) -> None:
    with serving(store) as service:
        assert service.get("/metrics").status_code == 404
    with serving(store, Settings(rate_limit="", metrics=True)) as service:
        service.get("/api/v1/hybrid", params={"query": QUERY})
        service.client.request("PURGE", "/api/v1/hybrid")
        service.get(f"/{QUERY}")
        answer = service.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    counted = 'secondbrain_http_requests_total{method="GET",route="/api/v1/hybrid",status="200"} 1.0'
    assert counted in answer.text
    assert 'method="OTHER",route="/api/v1/hybrid",status="405"' in answer.text
    assert 'route="UNMATCHED",status="404"' in answer.text
    assert "unmistakable" not in answer.text
