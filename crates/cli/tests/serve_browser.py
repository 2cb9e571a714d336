"""Drives headless Chromium: one step a line on standard input, its result as a line of JSON on standard output.

A step is a JSON object, one of
  {"open": address}
  {"js": "return ..."}                     a script; its result is the step's
  {"until": "return ...", "seconds": n}    a script until its result is true; that result, or null after so many seconds
  {"focus": selector, "keys": [..]}        keys for an element, by the names of selenium's Keys or as text
  {"keys": [..]}                           keys for whatever has the focus
  {"picture": path}                        the whole page as PNG
  {"console": true}                        messages of the console since the last such step
"""

import json
import shutil
import signal
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def until(driver, script, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = driver.execute_script(script)
        if result:
            return result
        time.sleep(0.1)
    return None


def picture(driver, path):
    height = driver.execute_script("return document.documentElement.scrollHeight")
    driver.set_window_size(1200, max(600, height + 150))
    return driver.save_screenshot(path)


def take(driver, step):
    if "open" in step:
        return driver.get(step["open"])
    if "js" in step:
        return driver.execute_script(step["js"])
    if "until" in step:
        return until(driver, step["until"], step["seconds"])
    if "keys" in step:
        selector = step.get("focus")
        for keys in step["keys"]:
            element = driver.find_element(By.CSS_SELECTOR, selector) if selector else driver.switch_to.active_element
            element.send_keys(getattr(Keys, keys, keys))
        return None
    if "picture" in step:
        return picture(driver, step["picture"])
    return [entry["message"] for entry in driver.get_log("browser")]


# Seconds after which a browser that does not answer ends this program.
STEP_MAX = 300


def main():
    signal.alarm(STEP_MAX)
    options = Options()
    options.binary_location = shutil.which("chromium")
    # Containers give root no sandbox and little shared memory.
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,900"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    signal.alarm(0)
    try:
        for line in sys.stdin:
            signal.alarm(STEP_MAX)
            print(json.dumps(take(driver, json.loads(line))), flush=True)
            signal.alarm(0)
    finally:
        signal.alarm(STEP_MAX)
        driver.quit()


main()
