"""Reads ShowPlan XML with Python's own XML library, for comparison: one JSON object a file."""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

NAMESPACE = "{http://schemas.microsoft.com/sqlserver/2004/07/showplan}"


def text(path):
    data = open(path, "rb").read()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        decoded = data.decode("utf-16")
    else:
        decoded = data.decode("utf-8-sig")
    return re.sub(r"^\s*<\?xml.*?\?>", "", decoded)


def name(element):
    return element.tag.replace(NAMESPACE, "")


def figures(path):
    root = ElementTree.fromstring(text(path))
    operators = [element for element in root.iter() if name(element) == "RelOp"]
    indexes = set()
    for element in (element for operator in operators for element in operator.iter()):
        if name(element) == "Object" and element.get("Index"):
            indexes.add((element.get("Table") or "").strip("[]") + "." + element.get("Index").strip("[]"))
    warnings = []
    for element in root.iter():
        if name(element) == "Warnings":
            warnings += [key for key, value in element.attrib.items() if value in ("1", "true")]
            warnings += [name(child) for child in element]
    counters = [element for element in root.iter() if name(element) == "RunTimeCountersPerThread"]
    return {
        "plans": sum(name(element) == "QueryPlan" for element in root.iter()),
        "costs": sorted(float(element.get("EstimatedTotalSubtreeCost")) for element in operators),
        "physical": sorted(element.get("PhysicalOp") for element in operators),
        "rows": sum(float(element.get("ActualRows") or 0) for element in counters),
        "indexes": sorted(indexes),
        "warnings": sorted(warnings),
        "missing": sorted(
            (element.get("Table") or "").strip("[]") for element in root.iter() if name(element) == "MissingIndex"
        ),
        "waits_ms": sum(float(element.get("WaitTimeMs")) for element in root.iter() if name(element) == "Wait" and element.get("WaitTimeMs")),
    }


for line in sys.stdin:
    print(json.dumps(figures(line.rstrip("\n"))), flush=True)
