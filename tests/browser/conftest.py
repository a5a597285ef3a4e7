"""Headless Chromium, with its console and its network watched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

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
