# SPDX-License-Identifier: MIT
"""Headless Chromium for the checks of pages."""

import base64
import json
import re
import subprocess
import urllib.request


class Browser:
    """A session of ChromeDriver, over the WebDriver protocol."""

    def __init__(self, work):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if at := re.search(r"started successfully on port (\d+)", line):
                self.url = f"http://127.0.0.1:{at[1]}/session"
                break
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", f"--user-data-dir={work}/profile"]  # fmt: skip
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                  "goog:chromeOptions": {"args": arguments, "binary": "/usr/bin/chromium"}}  # fmt: skip
        self.url += "/" + self.call("", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def call(self, path, body=None, method="POST"):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        # the driver is on this machine: no proxy
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def close(self):
        try:
            self.call("", method="DELETE")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def run(self, script, *arguments):
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def element(self, css):
        return next(iter(self.call("/element", {"using": "css selector", "value": css}).values()))

    def click(self, css):
        self.call(f"/element/{self.element(css)}/click")

    def type(self, css, text):
        self.run("document.querySelector(arguments[0]).value = ''", css)
        self.call(f"/element/{self.element(css)}/value", {"text": text})

    def log(self, kind):
        return self.call("/se/log", {"type": kind})

    def open(self, path):
        self.log("browser"), self.log("performance")
        self.call("/url", {"url": path.as_uri()})

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.call("/screenshot", method="GET")))
