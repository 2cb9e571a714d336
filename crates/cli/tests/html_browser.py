"""Opens a page in headless Chromium, takes steps in it, and prints what it saw as JSON.

Standard input is JSON: {"page": path, "dark": bool, "steps": [...]}, a step being one of
  {"js": "return ..."}                a script; its result is the step's
  {"focus": selector, "keys": [..]}   keys for an element, by the names of selenium's Keys or as text
  {"pdf": true}                       prints; the number of bytes, and how they begin
Results: {"results": [...], "console": [...], "alert": bool}.
"""

import base64
import json
import pathlib
import shutil
import signal
import sys

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException, UnexpectedAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def take(driver, step):
    if "js" in step:
        return driver.execute_script(step["js"])
    if "focus" in step:
        element = driver.find_element(By.CSS_SELECTOR, step["focus"])
        for keys in step["keys"]:
            element.send_keys(getattr(Keys, keys, keys))
        return None
    content = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    return [len(content), content[:5].decode("ascii")]


# Seconds after which a browser that does not answer ends this program.
TIME_MAX = 600


def main():
    signal.alarm(TIME_MAX)
    asked = json.load(sys.stdin)
    options = Options()
    options.binary_location = shutil.which("chromium")
    # Containers give root no sandbox and little shared memory.
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,1000"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if asked["dark"] else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        alert, results = False, []
        try:
            driver.get(pathlib.Path(asked["page"]).resolve().as_uri())
            results = [take(driver, step) for step in asked["steps"]]
            driver.switch_to.alert.dismiss()
            alert = True
        except UnexpectedAlertPresentException:
            alert = True
        except NoAlertPresentException:
            pass
        console = [entry["message"] for entry in driver.get_log("browser")]
    finally:
        driver.quit()
    json.dump({"results": results, "console": console, "alert": alert}, sys.stdout)


main()
