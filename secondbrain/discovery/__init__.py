"""Seven fixed public sources → review-gated candidates and a state.

In: payloads of GitHub at exact commits, or a folder that holds them. Out: ``candidates.jsonl`` and
``state.json``, a receipt of the run and, by :mod:`propose`, one review branch that a person decides on.

Never here: another source, host or branch; anything learned, promoted, merged, approved or deleted;
a pushed branch changed; a payload's text or a found secret in a receipt, error or log.

    contracts   which seven sources                 candidate, identity   a row and its id
    github      the only HTTP client                extract (and _*)      payload → rows
    fetch       payloads at exact commits           state                 the two files, written and verified
    screen      no secret-like material             diff                  what changed, for reviewers
    strict_json JSON without surprises              refresh, receipt      the run and its record
    git, propose                                    review branch and pull request
"""
