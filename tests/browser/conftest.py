"""Headless Chromium, with its console and its network watched, and the reports that it opens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.forms import render_html
from tests.fixtures.invented_analysis import empty, invented_analysis, quick
from tests.fixtures.invented_probes import Invented, invented_probes
from tests.fixtures.undrawn import undrawn

__all__ = ["undrawn"]
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1000",
)
PATIENCE = 300
CAMPAIGNS: dict[str, Callable[[], CampaignAnalysis]] = {
    "long": invented_analysis,
    "short": lambda: invented_analysis(seconds=2),
    "nasty": lambda: quick(invented_analysis(nasty=True, seconds=5)),
    "empty": lambda: empty(invented_analysis(seconds=2)),
    "probes": lambda: invented_probes(Invented(blocks=2)),
}
Written = Callable[[str, Language], Path]
"""The report of one of these campaigns, by its name."""


class Browser:
    """One Chromium; each page opened in it is watched from its first byte."""

    def __init__(self, driver: webdriver.Chrome, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    def show(self, page: Path, *, theme: str = "light", width: int = 1280) -> None:
        """Load a file."""
        self.driver.get("about:blank")
        self.messages()
        self.requests()
        self.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": theme}],
        )
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=1000,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.driver.get(page.as_uri())

    @contextmanager
    def without_scripts(self) -> Iterator[None]:
        """As for a reader who has switched them off."""
        self.command("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield
        finally:
            self.command("Emulation.setScriptExecutionDisabled", value=False)

    def open(self, page: Path, *, theme: str = "light", width: int = 1280) -> None:
        """Load a file, and wait until every chart is drawn."""
        self.show(page, theme=theme, width=width)
        WebDriverWait(self.driver, PATIENCE).until(
            lambda driver: driver.execute_script(
                "return document.documentElement.dataset.charts === 'drawn'"
            )
        )

    def command(self, name: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def messages(self) -> list[str]:
        """What the console has said since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def _log(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.driver.get_log(name)  # type: ignore[no-untyped-call]
        return found

    def requests(self) -> list[str]:
        """Every address asked for since the last call, but files, data and blobs of the page."""
        found = []
        for entry in self._log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("file:", "data:", "blob:", "about:"))]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver_path = shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        pytest.skip("no chromium and chromedriver: apt-get install chromium chromium-driver")
    downloads = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option(
        "prefs",
        {"download.default_directory": str(downloads), "download.prompt_for_download": False},
    )
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        driver.set_script_timeout(PATIENCE)
        yield Browser(driver, downloads)
    finally:
        with suppress(ConnectionError):  # it may hang up before it has answered that it ends
            driver.quit()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("reports")

    def write(name: str, language: Language) -> Path:
        page = folder / f"{name}.{language}.html"
        if not page.exists():
            page.write_text(render_html(CAMPAIGNS[name](), language), encoding="utf-8")
        return page

    return write
