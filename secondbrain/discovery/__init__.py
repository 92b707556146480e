"""Seven fixed public sources → review-gated candidates and a state.

In: payloads of GitHub at exact commits, or a folder that holds them. Out: ``candidates.jsonl`` and
``state.json``, a receipt of the run and, by :mod:`propose`, one review branch that a person decides on.

Never here: another source, host or branch; anything learned, promoted, merged, approved or deleted;
a pushed branch changed; a payload's text or a found secret in a receipt, error or log.

What is read      contracts (which seven) · github (the only HTTP client) · fetch · payload
What is refused   screen (secret-like material) · shape
What is made      extract and extract_* · candidate · identity (ids) · locked_proven · markdown_text ·
                  telling_words
What is kept      state (the two files) · diff · receipt
The two runs      refresh · propose, with git and pull_request

Readers of a set import :mod:`state` alone: it needs neither the network library nor the detectors.
"""
