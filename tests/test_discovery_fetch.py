"""Payloads from GitHub at exact commits, and everything that can go wrong with an answer."""

import json
import time

import pytest
from discovery_payloads import ANATOMY, CONTRACTS, payload, payloads, write_folder
from github_simulator import GitHubSimulator

from secondbrain.discovery.fetch import fetch_payload, git_blob_id, read_payloads
from secondbrain.discovery.github import GitHub, Limits, token_from
from secondbrain.errors import (
    ConfigurationError,
    FrontierBoundaryError,
    FrontierIntegrityError,
    ProviderUnavailable,
)

TOKEN = "a-token-for-tests"


@pytest.fixture
def github():
    with GitHubSimulator() as simulator:
        yield simulator


def fetched(github, before=None, token=TOKEN, **limits):
    with GitHub(transport=github.transport, token=token, limits=Limits(**limits)) as client:
        return fetch_payload(client, CONTRACTS[ANATOMY], before)


def test_a_payload_is_the_newest_commit_s_bytes(github):
    revision = github.publish(ANATOMY, b"# Newer\n")
    read = fetched(github)
    assert (read.revision, read.data, read.lineage) == (revision, b"# Newer\n", "FIRST")


def test_the_blob_id_is_git_s_own(tmp_path):
    import subprocess

    (tmp_path / "file").write_bytes(b"some\nbytes\n")
    asked = subprocess.run(
        ["git", "hash-object", str(tmp_path / "file")], capture_output=True, text=True, check=True
    )
    assert git_blob_id(b"some\nbytes\n") == asked.stdout.strip()


def test_the_token_goes_to_the_api_host_alone(github):
    fetched(github)
    assert {(seen.host, seen.authorization) for seen in github.seen} == {
        ("api.github.com", f"Bearer {TOKEN}"),
        ("raw.githubusercontent.com", None),
    }


def test_without_a_token_nothing_is_sent_in_its_place(github):
    fetched(github, token=None)
    assert {seen.authorization for seen in github.seen} == {None}


def test_only_the_two_hosts_are_asked_whatever_the_environment_says(github, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    fetched(github)
    assert {seen.host for seen in github.seen} == {"api.github.com", "raw.githubusercontent.com"}


STEPS = ("commits", "contents", "raw")
REFUSALS = {
    "server_error": (ProviderUnavailable, "500"),
    "gone": (ProviderUnavailable, "404"),
    "rate_limit_for_long": (ProviderUnavailable, "rate limit"),
    "cut_off": (ProviderUnavailable, "no complete answer"),
    "too_large": (FrontierBoundaryError, "over"),
    "compressed": (FrontierBoundaryError, "compressed"),
    "redirect_elsewhere": (FrontierBoundaryError, "redirect"),
    "redirect_loop": (FrontierBoundaryError, "redirect"),
    "not_json": (FrontierIntegrityError, ANATOMY),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", REFUSALS)
def test_a_bad_answer_of_any_step_is_refused_without_showing_the_token(github, step, fault):
    kind, said = REFUSALS[fault]
    github.fail(step, ANATOMY, fault)
    with pytest.raises(kind, match=said) as refused:
        fetched(github)
    assert TOKEN not in repr(refused.value) + repr(refused.value.__cause__)


@pytest.mark.parametrize(
    ("step", "fault", "said"),
    [
        ("raw", "other_bytes", "is not the blob that the API names"),
        ("commits", "short_revision", "not a full commit id"),
        ("contents", "short_blob", "no full blob id"),
    ],
)
def test_what_does_not_agree_is_refused(github, step, fault, said):
    github.fail(step, ANATOMY, fault)
    with pytest.raises(FrontierIntegrityError, match=said):
        fetched(github)


@pytest.mark.parametrize("step", STEPS)
def test_a_slow_answer_ends_at_the_limit_of_the_whole(github, step):
    github.fail(step, ANATOMY, "slow")
    began = time.monotonic()
    with pytest.raises(ProviderUnavailable):
        fetched(github, whole_seconds=0.3)
    assert time.monotonic() - began < 2


def test_silence_within_an_answer_ends_it(github):
    github.before_answer = lambda step: time.sleep(0.5)
    with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
        fetched(github, read_seconds=0.1)


@pytest.mark.parametrize("step", STEPS)
def test_a_redirect_within_the_host_is_followed(github, step):
    github.fail(step, ANATOMY, "redirect_same_host")
    assert fetched(github).data == payloads()[ANATOMY]


def test_a_rate_limit_that_is_over_is_waited_out(github):
    github.fail("commits", ANATOMY, "rate_limit_reset_passed")
    assert fetched(github).data == payloads()[ANATOMY]
    assert len([seen for seen in github.seen if "/commits" in seen.path]) == 2


def test_waiting_has_an_end(github):
    github.fail("commits", ANATOMY, "rate_limit_reset_passed")
    with pytest.raises(ProviderUnavailable, match="rate limit"):
        fetched(github, waits=0)


def test_a_post_is_never_redirected(github):
    github.pull_answer = (307, {})
    with (
        GitHub(transport=github.transport, token=TOKEN) as client,
        pytest.raises(FrontierBoundaryError, match="redirect"),
    ):
        client.post("/repos/szl-holdings/szl-second-brain/pulls", {})


def test_the_bound_of_two_mebibytes_is_exact(github):
    at_the_bound = b"# A\n" + b" " * (2 * 1024 * 1024 - 4)
    github.publish(ANATOMY, at_the_bound)
    assert fetched(github, answer_bytes=10**7).data == at_the_bound
    github.publish(ANATOMY, at_the_bound + b" ")
    with pytest.raises(FrontierBoundaryError, match="over 2097152 bytes"):
        fetched(github, answer_bytes=10**7)


def test_lineage_tells_a_reviewer_how_the_revision_relates_to_the_one_before(github):
    (before, _), *_ = github.revisions[ANATOMY]
    assert fetched(github, before).lineage == "SAME"
    github.publish(ANATOMY, b"# Newer\n")
    assert fetched(github, before).lineage == "AHEAD"
    github.diverged = True
    assert fetched(github, before).lineage == "DIVERGED"
    github.fail("compare", ANATOMY, "gone")
    assert fetched(github, before).lineage == "DIVERGED"


def test_an_old_revision_played_again_is_refused(github):
    newest = github.publish(ANATOMY, b"# Newer\n")
    github.fail("commits", ANATOMY, "old_revision")
    with pytest.raises(FrontierBoundaryError, match=f"is older than {newest}"):
        fetched(github, newest)


@pytest.mark.parametrize("token", ["two words", "line\nend", "ü", "\x7f"])
def test_an_odd_token_is_refused_without_being_shown(token):
    with pytest.raises(ConfigurationError, match="GH_READ_TOKEN") as refused:
        GitHub(transport=None, token=token)
    assert token not in str(refused.value)


def test_the_first_token_that_is_set_counts():
    assert token_from({"GITHUB_TOKEN": "b", "GH_READ_TOKEN": "a"}) == "a"
    assert token_from({"GITHUB_TOKEN": "b", "GH_READ_TOKEN": ""}) == "b"
    assert token_from({}) is None


def folder_payload(folder, source_id=ANATOMY):
    return read_payloads(folder, tuple(CONTRACTS.values()))[source_id]()


def test_a_folder_gives_the_same_payload_without_a_lineage(tmp_path):
    assert folder_payload(write_folder(tmp_path)) == payload(ANATOMY)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("source_id", "another", "does not name the seven"),
        ("source_id", "nemo_witness", "does not name the seven"),
        ("repository", "someone/else", "repository"),
        ("path", "OTHER.md", "path"),
        ("revision", "main", "revision"),
        ("bytes", 1, "bytes"),
        ("sha256", "0" * 64, "sha256"),
        ("extra", 1, "a key that its schema lacks"),
    ],
)
def test_a_folder_whose_list_is_wrong_is_refused(tmp_path, key, value, said):
    write_folder(tmp_path)
    listed = json.loads((tmp_path / "sources.json").read_text())
    next(entry for entry in listed if entry["source_id"] == ANATOMY)[key] = value
    (tmp_path / "sources.json").write_text(json.dumps(listed))
    with pytest.raises(FrontierIntegrityError, match=said):
        folder_payload(tmp_path)


def test_a_folder_with_a_missing_or_too_large_payload_is_refused(tmp_path):
    write_folder(tmp_path)
    (tmp_path / f"{ANATOMY}.payload").write_bytes(b" " * (2 * 1024 * 1024 + 1))
    with pytest.raises(FrontierIntegrityError, match="over 2097152 bytes"):
        folder_payload(tmp_path)
    (tmp_path / f"{ANATOMY}.payload").unlink()
    with pytest.raises(FrontierIntegrityError, match=r"living_anatomy\.payload: cannot be read"):
        folder_payload(tmp_path)
