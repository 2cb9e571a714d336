"""Serves results files and visits the list, the page of each run, a part of it and a comparison: wall and processor
seconds of each page and its size, and the most memory of all. `visit.py STEELBENCH FOLDER`"""

import html
import os
import re
import subprocess
import sys
import time
from urllib.parse import urlencode
from urllib.request import urlopen

server = subprocess.Popen([sys.argv[1], "serve", sys.argv[2], "--port", "0"], stdout=subprocess.PIPE, text=True)
PROCESSOR_S, PAGE_MB, MEMORY_MB = 3, 8, 500  # the most that there should be
home = re.match(r"http://[^/]+", server.stdout.readline()).group()


def processor_s():
    fields = open(f"/proc/{server.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def visit(what, path):
    start, used = time.monotonic(), processor_s()
    page = urlopen(home + path).read()
    wall, used = time.monotonic() - start, processor_s() - used
    size = len(page) / 1e6
    print(f"  {what}: {wall:.2f} s, {used:.2f} s of processor time, {size:.2f} MB; goal {PROCESSOR_S} s, {PAGE_MB} MB"
          + (": not reached" if used > PROCESSOR_S or size > PAGE_MB else ""))
    return page.decode()


try:
    visit("list, first visit", "/")
    runs = visit("list again", "/")
    for link in sorted(set(re.findall(r'href="(/run\?[^"]+)"', runs))):
        path = html.unescape(link)
        page = visit(path, path)
        level = re.search(r'name="only">.*?value="([^"]+=[^"]+)"', page, re.DOTALL).group(1)
        visit(f"  only {level}", f"{path}&{urlencode({'only': html.unescape(level)})}")
        picks = page[page.index('name="a"'):]
        labels = re.findall(r'<option value="([^"]+)"', picks[:picks.index("</form>")])
        a, b = labels[0], labels[-1]
        compared = path.replace("/run?", "/compare?") + "&" + urlencode({"a": html.unescape(a), "b": html.unescape(b)})
        visit(f"  {a} against {b}", compared)
    most = re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{server.pid}/status").read()).group(1)
    most = int(most) * 1024 / 1e6
    print(f"  most memory: {most:.0f} MB; goal {MEMORY_MB} MB" + (": not reached" if most > MEMORY_MB else ""))
finally:
    server.terminate()
