"""The page in Debian's chromium: what a person sees, and what the browser complains of.

One server and one browser serve all tests here. Screenshots are left in ``artifacts/screenshots``.
"""

import base64
import json
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, missing, require_browser

from secondbrain import HybridSecondBrain, Store, wire
from secondbrain.projection.admission import projection_line
from secondbrain.projection.documents import harvest
from secondbrain.settings import Settings
from secondbrain.space.app import create_app, server_config
from secondbrain.store.build import build

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = pytest.mark.browser

AXE = ROOT / "artifacts" / "node" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = ROOT / "artifacts" / "screenshots"
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
QUESTION = "/?q=What+is+the+%CE%9B+uniqueness+conjecture%3F"
ABSTENTION = "/?q=best+croissant+recipe+in+Paris"
PAGES = {
    "start": "/",
    "ask": QUESTION,
    "abstention": ABSTENTION,
    "map": "/map?q=receipt+chain+associativity",
    "frontier": "/frontier",
    "boundary": "/boundary",
    "refused": "/?q=a&k=99",
}
FIRST_PAINT_MS = 500
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true;"


class Browser:
    """A chromium at the page's server."""

    def __init__(self, driver: Any, origin: str) -> None:
        self.driver = driver
        self.origin = origin

    def open(self, path: str) -> None:
        self.driver.get(self.origin + path)

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return found

    def one(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def ask(self, question: str) -> None:
        """Type a question, press Enter, and wait until the answer's page has ended in its footer."""
        self.one("#q").send_keys(question, Keys.ENTER)
        WebDriverWait(self.driver, 10).until(lambda driver: "q=" in driver.current_url)
        WebDriverWait(self.driver, 10).until(lambda _: self.all("footer"))

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def width(self, width: int) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )

    def scheme(self, name: str) -> None:
        self.devtools(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}]
        )

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def picture(self, name: str) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        shot = self.devtools("Page.captureScreenshot", format="png")
        path = SCREENSHOTS / f"{name}.png"
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def complaints(self) -> list[str]:
        """Return what the console said since last asked: script errors, refused content, failed loads."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self) -> list[str]:
        """Return the addresses that were asked for since last asked."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [
            one["params"]["request"]["url"]
            for one in messages
            if one["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> HybridSecondBrain:
    """The brain over this checkout's own corpus and candidate set."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = map(projection_line, harvest(ROOT / "corpus").rows)
    projection = folder / "projection.jsonl"
    projection.write_text("".join(lines), encoding="utf-8", newline="\n")
    return HybridSecondBrain(Store(build(projection, folder / "store.db", frontier=ROOT / "frontier").path))


@pytest.fixture(scope="module")
def origin(brain: HybridSecondBrain) -> Iterator[str]:
    """The real application, served on a port of its own."""
    uvicorn = pytest.importorskip("uvicorn")
    settings = Settings(rate_limit="", port=0)
    server = uvicorn.Server(server_config(create_app(settings, brain=brain), settings))
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 10
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def started(origin: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    options = Options()
    options.binary_location = require_browser()
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    yield Browser(driver, origin)
    driver.quit()


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """The browser as a person opens it: light, 1280 wide; afterwards it may have complained of nothing."""
    started.scheme("light")
    started.width(1280)
    started.open("/")
    started.complaints()
    started.requested()
    yield started
    assert not [one for one in started.complaints() if "status of 422" not in one]
    assert all(one.startswith((started.origin, "data:", "about:")) for one in started.requested())


def test_a_person_types_a_question_and_gets_cards(browser: Browser, brain: HybridSecondBrain) -> None:
    question = "receipt chain associativity"
    browser.ask(question)
    titles = [one.text for one in browser.all(".card h2")]
    assert titles == [handle["note"] for handle in brain.context(question)["handles"]]
    held = [one.text.split("\n")[-1] for one in browser.all(".card:first-child .words .held")]
    assert {"receipt", "chain"} <= set(held)
    assert browser.one(".badge").text == "BM25_ONLY"


def test_an_abstention_reads_as_a_decision(browser: Browser) -> None:
    browser.open(ABSTENTION)
    assert browser.one(".decision h1").text == "The brain abstains"
    assert "not met" in browser.one(".rule").text
    assert not browser.all(".card")


def test_a_receipt_is_verified_by_the_service(browser: Browser) -> None:
    browser.open(QUESTION)
    assert _verdict(browser) == "VERIFIED"


def test_a_receipt_that_was_edited_is_called_tampered(browser: Browser) -> None:
    browser.open(QUESTION)
    browser.run(
        "const shown = document.getElementById('receipt-json');"
        "const receipt = JSON.parse(shown.textContent);"
        "receipt.handles[0].note = 'another title';"
        "shown.textContent = JSON.stringify(receipt);"
    )
    assert _verdict(browser) == "TAMPERED"


def _verdict(browser: Browser) -> str:
    browser.one("#verify").click()
    said = WebDriverWait(browser.driver, 5).until(
        lambda _: browser.one("#verdict").get_attribute("data-state")
    )
    return str(said)


def test_a_digest_is_copied(browser: Browser) -> None:
    browser.devtools(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    browser.open(QUESTION)
    button = browser.one(".card [data-copy]")
    button.click()
    WebDriverWait(browser.driver, 5).until(lambda _: button.text == "Copied")
    copied = browser.driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], (e) => arguments[0](String(e)))"
    )
    assert copied == button.get_attribute("data-copy")


def test_the_map_has_a_mark_for_every_chunk_and_shows_the_one_pointed_at(
    browser: Browser, brain: HybridSecondBrain
) -> None:
    browser.open(PAGES["map"])
    assert len(browser.all(".marks rect.mark")) == brain.store.snapshot().chunk_count
    mark = browser.one(".marks rect.mark.selected")
    ActionChains(browser.driver).move_to_element(mark).perform()
    assert mark.get_attribute("data-sha") in browser.one("#plate").text
    assert mark.get_attribute("data-id") in browser.one("#plate").text


def test_the_map_is_walked_by_keyboard(browser: Browser) -> None:
    browser.open("/map")
    browser.run("document.querySelector('.save a').focus()")
    browser.press(Keys.TAB)
    first = browser.run("return document.activeElement.dataset.id")
    assert first in browser.one("#plate").text
    seen = [first]
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.END, Keys.HOME):
        browser.press(key)
        seen.append(browser.run("return document.activeElement.dataset.id"))
        assert seen[-1] in browser.one("#plate").text
    assert seen[0] == seen[-1]
    assert len(set(seen)) >= 4
    browser.press(Keys.TAB)
    assert browser.run(
        "return document.activeElement.closest('.shelf').querySelector('h2').textContent"
    ).startswith("formula")


def test_the_saved_map_opens_as_a_picture(browser: Browser) -> None:
    browser.open("/map.svg?q=receipt")
    assert browser.run("return document.documentElement.localName") == "svg"
    assert browser.run("return document.querySelectorAll('.mark').length") == 575


@pytest.mark.parametrize("width", [800, 1280])
def test_an_open_receipt_does_not_push_the_page_wider(browser: Browser, width: int) -> None:
    browser.width(width)
    browser.open(QUESTION)
    browser.run(OPEN_ALL)
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_the_three_statuses_are_three_columns_side_by_side(browser: Browser) -> None:
    browser.open("/frontier")
    boxes = [one.rect for one in browser.all(".column")]
    assert [round(box["y"]) for box in boxes] == [round(boxes[0]["y"])] * 3
    assert all(left["x"] + left["width"] <= right["x"] for left, right in pairwise(boxes))
    headings = [one.text for one in browser.all(".column h3")]
    assert headings == ["PROOF_STATUS", "Reported status", "The locked eight"]
    assert [one.text for one in browser.all(".column.locked .eight li")] == list(wire.LOCKED_PROVEN)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, name: str) -> None:
    browser.width(360)
    browser.open(PAGES[name])
    browser.picture(f"{name}-360")
    browser.run(OPEN_ALL)
    assert browser.run("return document.documentElement.scrollWidth") <= 360
    text = browser.run("return parseFloat(getComputedStyle(document.body).fontSize)")
    assert text >= 16


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_readers_scheme(browser: Browser, scheme: str) -> None:
    browser.scheme(scheme)
    for name, path in PAGES.items():
        browser.open(path)
        browser.picture(f"{name}-1280-{scheme}")
    red = browser.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(red) < 64) is (scheme == "dark")


def test_without_scripts_the_page_asks_answers_and_offers_no_dead_button(browser: Browser) -> None:
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open("/")
        browser.ask("reciprocal rank fusion")
        assert browser.all(".card h2")
        assert not [one for one in browser.all("button:not([type=submit])") if one.is_displayed()]
        browser.one(".drawer summary").click()
        assert "ranking_receipt" in browser.one("#receipt-json").text
        assert "secondbrain receipt verify" in browser.one("noscript").text
        browser.open("/map?q=receipt")
        assert len(browser.all(".marks rect.mark > title")) == 575
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def test_the_browser_would_complain_of_inline_code(browser: Browser) -> None:
    browser.run("document.head.append(Object.assign(document.createElement('style'), {textContent: 'p {}'}))")
    assert any("Content Security Policy" in one for one in browser.complaints())


def test_the_keyboard_reaches_content_search_and_cards_in_that_order(browser: Browser) -> None:
    browser.open(QUESTION)
    browser.press(Keys.TAB)
    assert browser.run("return document.activeElement.textContent") == "Skip to the content"
    browser.press(Keys.ENTER, Keys.TAB)
    assert browser.run("return document.activeElement.id") == "q"
    reached = []
    for _ in range(8):
        browser.press(Keys.TAB)
        reached.append(browser.run("const e = document.activeElement; return e.id || e.textContent.trim()"))
        outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached
    assert reached[:2] == ["k", "Ask"]
    assert any(one.startswith("Copy") for one in reached)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_violation(browser: Browser, scheme: str, width: int) -> None:
    if not AXE.exists():
        missing("axe-core is not installed: run scripts/fetch-axe")
    browser.scheme(scheme)
    browser.width(width)
    found = []
    for name, path in PAGES.items():
        browser.open(path)
        browser.run(OPEN_ALL)
        browser.run(AXE.read_text(encoding="utf-8"))
        report = browser.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done, done)"
        )
        for one in report["violations"]:
            found.append((name, one["id"], [node["html"][:160] for node in one["nodes"]][:3]))
    assert not found


def test_the_first_paint_is_quick_on_a_slow_processor(browser: Browser) -> None:
    browser.devtools("Emulation.setCPUThrottlingRate", rate=4)
    browser.devtools("Network.setCacheDisabled", cacheDisabled=True)
    try:
        paints = {name: _median_paint(browser, PAGES[name]) for name in ("start", "ask", "map", "frontier")}
    finally:
        browser.devtools("Network.setCacheDisabled", cacheDisabled=False)
        browser.devtools("Emulation.setCPUThrottlingRate", rate=1)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / "first-paint.json").write_text(json.dumps(paints), encoding="utf-8")
    assert max(paints.values()) < FIRST_PAINT_MS, paints


def _median_paint(browser: Browser, path: str) -> float:
    tries = []
    for _ in range(3):
        browser.open(path)
        tries.append(_first_paint(browser))
    return sorted(tries)[1]


def _first_paint(browser: Browser) -> float:
    script = "return (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime"
    return float(WebDriverWait(browser.driver, 10).until(lambda _: browser.run(script)))
