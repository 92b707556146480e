"""The scheduled workflow holds what it promises: pinned actions, least permissions, one run at a time."""

import re
import shutil
import subprocess

import pytest
import yaml
from discovery_payloads import REPOSITORY_ROOT, write_folder

from secondbrain.discovery.git import REPOSITORY
from secondbrain.discovery.receipt import write_receipt
from secondbrain.discovery.refresh import refresh

PATH = REPOSITORY_ROOT / ".github" / "workflows" / "continuous-frontier-memory.yml"
WORKFLOW = yaml.safe_load(PATH.read_text(encoding="utf-8"))
JOB = WORKFLOW["jobs"]["propose"]


def test_every_action_is_pinned_to_a_commit_with_its_version():
    used = re.findall(r"uses: (\S+)(.*)", PATH.read_text(encoding="utf-8"))
    assert len(used) == 3
    for action, version in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", version)


def test_permissions_are_the_two_that_a_proposal_needs():
    assert WORKFLOW["permissions"] == {}
    assert JOB["permissions"] == {"contents": "write", "pull-requests": "write"}


def test_it_runs_hourly_off_the_full_hour_by_hand_and_one_at_a_time():
    triggers = WORKFLOW[True]  # YAML reads the key "on" as true
    assert set(triggers) == {"schedule", "workflow_dispatch"}
    (schedule,) = triggers["schedule"]
    minute, *rest = schedule["cron"].split()
    assert minute != "0"
    assert rest == ["*"] * 4
    assert WORKFLOW["concurrency"]["group"]
    assert JOB["if"] == f"github.repository == '{REPOSITORY}'"


def test_the_receipt_is_kept_and_summed_up_whatever_happens():
    kept = [step for step in JOB["steps"] if step.get("if") == "always()"]
    assert [step["name"] for step in kept] == ["Say how it went", "Keep the receipt"]
    assert kept[1]["with"]["path"] == "artifacts/frontier-run.json"


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed here")
def test_the_summary_step_reads_a_real_receipt(tmp_path):
    receipt = refresh(tmp_path / "out", from_dir=write_folder(tmp_path / "in"))
    write_receipt(tmp_path / "artifacts" / "frontier-run.json", receipt)
    script = next(step["run"] for step in JOB["steps"] if step.get("name") == "Say how it went")
    summary = tmp_path / "summary"
    environment = {"GITHUB_STEP_SUMMARY": str(summary), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=True)
    said = summary.read_text()
    assert f"Candidate set: `{receipt['candidate_set_sha256']}`" in said
    assert "Nothing was proposed." in said
