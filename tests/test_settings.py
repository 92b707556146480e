"""Settings come from the environment, and what cannot be followed is refused by the variable's name."""

from pathlib import Path

import pytest

from secondbrain.errors import ConfigurationError
from secondbrain.settings import LEGACY_CORPUS, PREFIX, Settings, comma_separated, setting_fields


def read(**variables: str) -> Settings:
    return Settings.from_environment({PREFIX + name: value for name, value in variables.items()})


def test_an_empty_environment_gives_the_defaults() -> None:
    assert read() == Settings()
    assert read().corpus is None
    assert read().max_bytes == 128 * 1024 * 1024
    assert read().max_rows == 200_000


def test_every_setting_has_its_variable_and_says_what_it_is() -> None:
    names = [setting.name for setting in setting_fields()]
    assert "corpus" in names
    assert not any(name.startswith("_") for name in names)
    assert all(setting.metadata["about"] for setting in setting_fields())


@pytest.mark.parametrize("name", [setting.name for setting in setting_fields()])
def test_each_variable_reaches_its_setting(name: str) -> None:
    value = {"corpus_sha256": "a" * 64, "metrics": "1"}.get(name, "17")
    others = {"CORPUS": "x"} if name == "corpus_sha256" else {}
    found = getattr(read(**others, **{name.upper(): value}), name)
    assert str(int(found) if isinstance(found, bool) else found) == value


def test_variables_of_others_are_not_read() -> None:
    assert Settings.from_environment({"CORPUS": "x", "PORT": "1", "second_brain_port": "1"}) == Settings()


def test_the_older_variable_is_asked_second_and_named_where_it_counts() -> None:
    both = Settings.from_environment({PREFIX + "CORPUS": "new", LEGACY_CORPUS: "old"})
    assert (both.corpus, both.corpus_variable) == ("new", PREFIX + "CORPUS")
    old = Settings.from_environment(
        {PREFIX + "CORPUS": "", LEGACY_CORPUS: "old", PREFIX + "CORPUS_SHA256": "a" * 64}
    )
    assert (old.corpus, old.corpus_variable) == ("old", LEGACY_CORPUS)


@pytest.mark.parametrize(
    "name", ["CORPUS", "CACHE_DIR", "HOST", "ALLOWED_HOSTS", "PORT", "METRICS", "MAX_ROWS"]
)
def test_empty_means_unset(name: str) -> None:
    assert read(**{name: ""}) == Settings()


@pytest.mark.parametrize("name", ["RATE_LIMIT", "CORS_ORIGINS", "TRUSTED_PROXIES"])
def test_empty_turns_off_what_says_so(name: str) -> None:
    assert getattr(read(**{name: ""}), name.lower()) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "0"),
        ("PORT", "-1"),
        ("PORT", "65536"),
        ("PORT", "80.0"),
        ("PORT", "１２"),
        ("PORT", " 80"),
        ("MAX_ROWS", "²"),
        ("MAX_BYTES", "1_000"),
        ("MAX_BYTES", "9" * 5000),
        ("METRICS", "true"),
        ("METRICS", "2"),
    ],
)
def test_a_number_or_switch_that_is_none_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=PREFIX + name):
        read(**{name: value})


@pytest.mark.parametrize("pin", ["abc", "A" * 64, "a" * 63, "sha256:" + "a" * 64])
def test_a_pin_is_64_hexadecimal_digits(pin: str) -> None:
    with pytest.raises(ConfigurationError, match=PREFIX + "CORPUS_SHA256 is not 64"):
        read(CORPUS="x", CORPUS_SHA256=pin)


def test_a_pin_without_a_corpus_is_refused() -> None:
    """It would pin nothing, and the packaged projection would be served under it."""
    with pytest.raises(ConfigurationError, match="no corpus is"):
        read(CORPUS_SHA256="a" * 64)


def test_the_cache_lies_where_the_operator_or_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert read(CACHE_DIR="/mine").cache_folder() == Path("/mine")
    assert read().cache_folder() == Path("/xdg/szl-second-brain")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert read().cache_folder() == Path("/home/someone/.cache/szl-second-brain")


def test_a_user_without_a_home_has_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(OSError, match="Not a directory"):
        read().cache_folder().mkdir(parents=True, exist_ok=True)


def test_a_list_is_parted_at_commas() -> None:
    assert comma_separated(" a, b ,,c") == ["a", "b", "c"]
    assert comma_separated("") == []
