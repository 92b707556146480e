"""The HTTP face: strict requests in, the library's own payloads out.

In come requests of programs and people. Out go handles, digests and counts as canonical JSON, byte for
byte what the library gives, and problems (RFC 9457) where a request cannot be answered. No text of a
chunk or candidate leaves here, and no word of a query is logged.

| question | file |
|---|---|
| what is there, and what does it call? | ``operations.py``, ``routes.py`` |
| what does this face alone answer? | ``payloads.py`` |
| where is it described? | ``openapi.py``, ``reference.py`` |
| what do people see? | ``page/`` |
| what is a request allowed to say? | ``parameters.py``, ``requests.py`` |
| what is answered when it fails? | ``problems.py`` |
| where does a search run? | ``work.py`` |
| how much is let in? | ``limits.py``, ``hosts.py``, ``connections.py`` |
| what is told to browsers, logs and gauges? | ``headers.py``, ``logs.py``, ``metrics.py`` |
| how is it put together and served? | ``app.py`` |
"""
