"""No secret-like material enters a candidate set.

Rules that hold here:

1. A whole payload is screened before it is parsed, and each candidate before anything is written.
2. A finding refuses the run. It names source, line and kind of secret, never the match.
3. A commit id or digest (40 or 64 hexadecimal digits, alone) is no finding for being random. Under a
   name such as ``api_key`` it is one.
4. No remark in a payload turns a detector off, and no finding is tried out on a network.

The detectors are those of detect-secrets: kept up by Yelp, a plain library of 27 named detectors, line by
line and without a service. gitleaks and trufflehog know more kinds, but are programs to install beside
Python, and trufflehog tries what it finds. Some shapes are added here, wider than the library draws them.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from secondbrain.discovery.payload import Payload
from secondbrain.errors import ConfigurationError, FrontierIntegrityError
from secondbrain.wire import FrontierCandidate

INSTALL = "pip install 'szl-second-brain[frontier]'"
SCREEN_SECONDS = 60.0  # for one payload; a real one takes a tenth of a second

# Some detectors are quadratic in the length of a line. Windows overlap by more than a secret's length.
_WINDOW = 1024
_OVERLAP = 256

_COMMIT_OR_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ADDED_SHAPES = {
    "private key": re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY"),
    "sk- key": re.compile(r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}"),
    "GitHub token": re.compile(r"(?<![A-Za-z0-9])(?:gh[a-z]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    "Hugging Face token": re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{20,}"),
    "AWS access key": re.compile(r"(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}"),
}
# A public address is no secret; all other detectors of the library take part.
_LEFT_OUT = frozenset({"IPPublicDetector"})


@dataclass(frozen=True)
class Finding:
    """Where something secret-like stands, and what it looks like; never what it is."""

    line: int
    kind: str


def require_detectors() -> None:
    """Raise ConfigurationError with the remedy if the detectors are not installed."""
    _detectors()


def screen_payload(payload: Payload) -> None:
    """Refuse a payload with secret-like material in it: FrontierIntegrityError with source and line."""
    try:
        text = payload.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FrontierIntegrityError(f"{payload.contract.source_id}: not UTF-8 text") from error
    for finding in findings(text):
        raise FrontierIntegrityError(
            f"{payload.contract.source_id}: {payload.contract.path}:{finding.line} at {payload.revision} "
            f"looks like a secret ({finding.kind}): have it revoked and removed at the source"
        )


def screen_candidate(source_id: str, row: FrontierCandidate) -> None:
    """Refuse a row with secret-like material in any of its texts; JSON escapes are undone by now."""
    for field, value in row.items():
        for finding in findings(str(value)):
            raise FrontierIntegrityError(
                f"{source_id}: line {finding.line} of field {field!r} of candidate {row['id']} "
                f"looks like a secret ({finding.kind}): have it revoked and removed at the source"
            )


def findings(text: str) -> Iterator[Finding]:
    """Yield what looks like a secret, in order of lines, each kind once a line."""
    deadline = time.monotonic() + SCREEN_SECONDS
    for number, line in enumerate(text.split("\n"), 1):
        kinds: set[str] = set()
        for start in range(0, max(len(line) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            kinds.update(_kinds(line[start : start + _WINDOW]))
            if time.monotonic() > deadline:
                raise FrontierIntegrityError(f"screening was not done in {SCREEN_SECONDS:g} s: text refused")
        yield from (Finding(number, kind) for kind in sorted(kinds))


def _kinds(line: str) -> Iterator[str]:
    for kind, shape in _ADDED_SHAPES.items():
        if shape.search(line):
            yield kind
    for kind, detect in _detectors():
        if detect(line):
            yield kind


@cache
def _detectors() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    """Return the library's detectors as (kind, line → found) pairs.

    They are asked directly: the library's scanner would obey ``pragma: allowlist secret`` remarks (rule 4).
    """
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError as error:
        raise ConfigurationError(f"discovery needs the detectors of detect-secrets: {INSTALL}") from error
    classes: dict[str, Any] = get_mapping_from_secret_type_to_class()
    plugins = {
        kind: plugin_class()
        for kind, plugin_class in sorted(classes.items())
        if plugin_class.__name__ not in _LEFT_OUT
    }
    detectors: list[tuple[str, Callable[[str], bool]]] = []
    for kind, plugin in plugins.items():
        if hasattr(plugin, "entropy_limit"):
            detectors.append((kind, _by_entropy(plugin)))
        else:
            detectors.append((kind, _by_shape(plugin)))
    detectors.append(("Secret Keyword", _unquoted_keyword(plugins["Secret Keyword"])))
    return tuple(detectors)


def _by_shape(plugin: Any) -> Callable[[str], bool]:
    analyze = plugin.analyze_string
    return lambda line: any(True for _ in analyze(line))


def _by_entropy(plugin: Any) -> Callable[[str], bool]:
    analyze = plugin.analyze_string
    entropy = plugin.calculate_shannon_entropy
    limit = plugin.entropy_limit

    def found(line: str) -> bool:
        return any(
            entropy(match) > limit and not _COMMIT_OR_DIGEST.fullmatch(match) for match in analyze(line)
        )

    return found


def _unquoted_keyword(plugin: Any) -> Callable[[str], bool]:
    from detect_secrets.plugins.keyword import CONFIG_DENYLIST_REGEX_TO_GROUP

    analyze = plugin.analyze_string

    def found(line: str) -> bool:
        # "Secret: see below" is prose. One word with letters and digits after such a name is not.
        return any(
            len(match) >= 8 and match.isprintable() and " " not in match and _mixed(match)
            for match in analyze(line, denylist_regex_to_group=CONFIG_DENYLIST_REGEX_TO_GROUP)
        )

    return found


def _mixed(word: str) -> bool:
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
