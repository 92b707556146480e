"""Secret-like material refuses a run: every kind, in every payload, named without being shown."""

import base64
import json
import subprocess
import sys

import pytest
from discovery_payloads import CONTRACTS, REPOSITORY_ROOT, UPSTREAM, payload, payloads, upstream_folder

from secondbrain.discovery.candidate import candidate
from secondbrain.discovery.screen import findings, screen_candidate, screen_payload
from secondbrain.errors import FrontierIntegrityError

# Put together here, so that no scanner of this repository takes them for real ones.
_RANDOM = "xK9" + "q2Zt7Bv4LmN8pR" + "s6Wy1Df3Gh5J"
_JWT = ".".join(
    base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
    for part in ({"alg": "HS256"}, {"sub": "someone", "admin": True})
)
SECRETS = {
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----",
    "encrypted private key": "-----BEGIN " + "ENCRYPTED PRIVATE KEY-----",
    "sk key": "sk" + "-proj-" + _RANDOM,
    "GitHub personal token": "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "GitHub server token": "ghs" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "GitHub fine-grained token": "github" + "_pat_" + "11ABCDEFG0" + _RANDOM,
    "Hugging Face token": "hf" + "_" + "abcdefGHIJKLmnopQRSTuvwx1234567890",
    "AWS access key": "AKIA" + "IOSFODNN7" + "ABCDEFG",
    "GitLab token": "glpat" + "-" + "a1B2c3D4e5F6g7H8i9J0",
    "Slack token": "xoxb" + "-123456789012-123456789012-" + "abcdefghijklmnopqrstuvwx",
    "Stripe key": "sk" + "_live_" + "a1B2c3D4e5F6g7H8i9J0k1L2",
    "JSON web token": _JWT + "." + _RANDOM,
    "password in an address": "https://someone:" + "hunter2hunter" + "@example.org/",
    "password in quotes": 'password = "' + "correct7horse" + '"',
    "token without quotes": "api_key: " + "correct7horse8battery",
    "random text in quotes": '"' + _RANDOM + _RANDOM[::-1] + '"',
    "random hexadecimal in quotes": '"' + "3f9a1c7e5b2d8046" + "e1a7" + '"',
    "digest under a secret's name": '"api_key": "' + "c497b4ed402249f23da7f290426f0e21c70ab926" + '"',
    "npm token": "//registry.npmjs.org/:_authToken=npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "SendGrid key": "SG." + "a1B2c3D4e5F6g7H8i9J0k1" + "." + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_planted_secret_of_each_kind_is_found_in_each_payload(kind):
    for source_id, data in payloads().items():
        assert not list(findings(data.decode())), source_id
        lines = data.decode().split("\n")
        for number in (0, len(lines) // 2, len(lines) - 1):
            planted = [*lines[:number], lines[number] + " " + SECRETS[kind], *lines[number + 1 :]]
            with pytest.raises(FrontierIntegrityError) as refused:
                screen_payload(payload(source_id, "\n".join(planted).encode()))
            message = str(refused.value)
            assert f"{source_id}: {CONTRACTS[source_id].path}:{number + 1} " in message
            assert SECRETS[kind] not in message
            assert _RANDOM not in message


@pytest.mark.skipif(not UPSTREAM.is_file(), reason="the published material is not beside this repository")
def test_the_real_payloads_pass_and_a_secret_planted_in_each_is_found(tmp_path):
    folder = upstream_folder(tmp_path) / "payloads"
    for source_id in CONTRACTS:
        data = (folder / f"{source_id}.payload").read_bytes()
        screen_payload(payload(source_id, data))
        for secret in SECRETS.values():
            middle = data.find(b"\n", len(data) // 2)
            with pytest.raises(FrontierIntegrityError, match=source_id):
                screen_payload(payload(source_id, data[:middle] + b" " + secret.encode() + data[middle:]))


@pytest.mark.parametrize(
    "harmless",
    [
        '"commit": "c497b4ed402249f23da7f290426f0e21c70ab926"',
        '"sha256": "d7b08cde24f57a40de5707c4336ae41eae48aff9e91cb210ec3152ae8d3a8024"',
        "revision c497b4ed402249f23da7f290426f0e21c70ab926",
        "Secret: see the handbook",
        "sk-learn-compatible-estimators",
        "a task-oriented desk-and-chair approach to risk-based-assessment-of-things",
        "the server at 8.8.8.8",
        "hf_repository and hf_revision_policy",
    ],
)
def test_commit_ids_digests_and_plain_words_are_no_finding(harmless):
    assert not list(findings(harmless))


def test_a_remark_in_the_payload_turns_no_detector_off():
    assert list(findings(SECRETS["AWS access key"] + "  # pragma: allowlist secret"))


def test_a_secret_is_found_anywhere_in_a_very_long_line():
    for before in (0, 700, 760, 1000, 1020, 5000):
        assert list(findings("a " * (before // 2) + SECRETS["Slack token"] + " b" * 3000)), before


def test_a_secret_behind_a_json_escape_is_found_in_the_candidate():
    secret = SECRETS["private key"]
    escaped = (
        json.dumps({"statement": secret}).replace("BEGIN R", "BEGIN \\u0052").replace("KEY", "\\u004bEY")
    )
    assert not list(findings(escaped))
    row = candidate(
        payload("formula_quant_atlas"),
        source_kind="attributed-formula",
        stable_key="attributed:x",
        title="x",
        content=json.loads(escaped)["statement"],
    )
    with pytest.raises(FrontierIntegrityError, match=f"field 'content' of candidate {row['id']}") as refused:
        screen_candidate("formula_quant_atlas", row)
    assert secret not in str(refused.value)


def test_a_payload_that_is_not_text_is_refused():
    with pytest.raises(FrontierIntegrityError, match="not UTF-8"):
        screen_payload(payload("living_anatomy", b"\xff\xfe"))


def test_screening_that_takes_too_long_refuses(monkeypatch):
    monkeypatch.setattr("secondbrain.discovery.screen.SCREEN_SECONDS", 0)
    with pytest.raises(FrontierIntegrityError, match="screening was not done"):
        list(findings("text"))


def test_without_the_detectors_the_remedy_is_named():
    code = (
        "import sys; sys.modules['detect_secrets'] = None\n"
        "from secondbrain.discovery.screen import require_detectors\n"
        "require_detectors()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY_ROOT)
    assert "ConfigurationError" in ran.stderr
    assert "pip install 'szl-second-brain[frontier]'" in ran.stderr
