"""Debian's Chromium without a window, driven by selenium."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import (
    NoSuchElementException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from cluster.paths import MissingArtifact
from cluster.prerequisites import find_program
from cluster.processes import kill_strays
from cluster.running import Running
from cluster.signals import undisturbed
from cluster.waiting import wait_until

PROGRAMS = {"chromium": "chromium", "chromedriver": "chromium-driver"}
WAIT_SECONDS = 30.0
HEIGHT = 900
OPTIONS = (
    "--headless=new",
    # Root may not use the sandbox, and the tests open only their own pages.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    # All pages are on loopback.
    "--no-proxy-server",
)


def views(node: str, application: str) -> dict[str, str]:
    """The address of each view of the page, by its name."""
    return {
        "cluster": "#cluster",
        "nodes": "#nodes",
        "node": f"#nodes/{node}",
        "applications": "#applications",
        "application": f"#applications/{application}",
        "decisions": "#decisions",
    }


def browser_program(command: str) -> Path:
    """`chromium` or `chromedriver`; selenium must not download its own."""
    found = find_program(command)
    if found is None:
        raise MissingArtifact(f"{command} is missing: install Debian's package {PROGRAMS[command]}")
    return found


class Browser(Running):
    """A context manager: one window. Its end stops every process of it."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._driver: webdriver.Chrome | None = None

    def start(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="elastane-browser-"))
        self._start()
        self.resize(1400)

    def stop(self) -> None:
        """May be called repeatedly and in any state."""
        with undisturbed():
            if self._driver is not None:
                with contextlib.suppress(WebDriverException, OSError):
                    self._driver.quit()
                self._driver = None
            if self._folder is not None:
                kill_strays(str(self._folder))
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def open(self, url: str) -> None:
        """Loads a page. An address that differs only behind its # keeps the page."""
        self.driver.get(url)

    def log_in(self, url: str, user: str) -> None:
        """Opens a page of a daemon without Kerberos as this user, who stays the caller on all pages
        of its host until `log_out`."""
        self.log_out()
        self.open(f"{url}?user.name={user}")

    def log_out(self) -> None:
        """Deletes the cookies: Hadoop's web servers keep the caller's name in one."""
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})

    def run(self, script: str, *arguments: object) -> Any:
        """The value that a script returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """The visible text of the first element; empty if there is none."""
        try:
            return self.driver.find_element(By.CSS_SELECTOR, selector).text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    def content(self) -> str:
        """The document as HTML, without the places for line breaks; also what is not displayed."""
        return self.run("return document.documentElement.outerHTML").replace("<wbr>", "")

    def wait(self, condition: Callable[[], Any], what: str, seconds: float = WAIT_SECONDS) -> Any:
        return wait_until(condition, f"{what} on {self.driver.current_url}", seconds)

    def wait_text(self, selector: str, *wanted: str, seconds: float = WAIT_SECONDS) -> str:
        """Waits until an element shows all these texts; returns its text."""

        def found() -> str | None:
            text = self.text(selector)
            return text if all(one in text for one in wanted) else None

        return self.wait(found, f"{wanted} in {selector}", seconds)

    def resize(self, width: int, height: int = HEIGHT) -> None:
        """Sets the size of the page, which may be narrower than a window can be."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme: str) -> None:
        """`light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def screenshot(self, file: Path, most_pixels: int | None = None) -> None:
        """The page, also what lies below the window, as PNG: all of it, or the beginning."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        height = min(size["height"], most_pixels or size["height"])
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1}
        wanted = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        answer = self.driver.execute_cdp_cmd("Page.captureScreenshot", wanted)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def errors(self) -> list[str]:
        """What the console says since the last call: scripts that failed, what the policy refused,
        and files that were not loaded."""
        # The driver gives each entry once.
        entries = self.driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    @property
    def driver(self) -> webdriver.Chrome:
        if self._driver is None:
            raise RuntimeError("the browser is closed")
        return self._driver

    def _start(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(browser_program("chromium"))
        for option in (*OPTIONS, f"--user-data-dir={self._folder}/profile"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(
            executable_path=str(browser_program("chromedriver")),
            # All its processes inherit the folder's name, by which strays are found.
            env={**os.environ, "TMPDIR": str(self._folder), "HOME": str(self._folder)},
        )
        self._driver = webdriver.Chrome(options=options, service=service)
