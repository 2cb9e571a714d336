"""Writes the bill of materials of the program (CycloneDX) and the licence texts of what it contains:
the crates, the C libraries in some of them, and the JavaScript that reports embed.

materials.py TRIPLE FEATURES PACKAGE VERSION COMMIT TIMESTAMP FOLDER
"""

import json
import pathlib
import re
import subprocess
import sys

TRIPLE, FEATURES, PACKAGE, VERSION, COMMIT, TIMESTAMP, FOLDER = sys.argv[1:]
VENDORED = pathlib.Path("crates/core/report/assets/vendor")
# Beginnings of the names of files with licences.
LICENCES = "LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"


def read_crates():
    """All crates that the program or its build needs, the program first."""
    metadata = json.loads(subprocess.check_output([
        "cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TRIPLE,
        "--manifest-path", "crates/cli/Cargo.toml",
        # Other crates of the workspace have features of the same names.
        "--features", ",".join(f"steelbench/{name}" for name in FEATURES.split(",") if name)]))
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {
        node["id"]: [(dep["pkg"], [kind["kind"] for kind in dep["dep_kinds"]]) for dep in node["deps"]]
        for node in metadata["resolve"]["nodes"]}
    program = next(id for id, package in packages.items() if package["name"] == "steelbench")
    is_macro = {id: any("proc-macro" in target["kind"] for target in package["targets"])
                for id, package in packages.items()}

    def reachable(is_followed):
        reached, waiting = {program}, [program]
        while waiting:
            for id, kinds in needs[waiting.pop()]:
                if id not in reached and is_followed(id, kinds):
                    reached.add(id)
                    waiting.append(id)
        return reached

    parts = reachable(lambda id, kinds: None in kinds and not is_macro[id])
    everything = reachable(lambda id, kinds: any(kind != "dev" for kind in kinds))
    crates = []
    for id in everything:
        crate = packages[id]
        crate["is_part"] = id in parts
        crate["reference"] = f"{crate['name']}@{crate['version']}"
        crate["licence"] = (crate["license"] or "").replace("/", " OR ")
        crate["needs"] = {need for need, _ in needs[id]} & everything
        crates.append(crate)
    return sorted(crates, key=lambda crate: (crate["id"] != program, crate["name"], crate["version"]))


def checksums():
    """The checksums of the lock file by name and version."""
    pattern = r'name = "(.*)"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"'
    text = pathlib.Path("Cargo.lock").read_text()
    return {f"{name}@{version}": checksum for name, version, checksum in re.findall(pattern, text)}


def origin(text):
    return [{"name": "steelbench:origin", "value": text}]


def crate_component(crate, sums):
    """A crate of the registry has its checksum."""
    component = {
        "type": "library",
        "bom-ref": crate["reference"],
        "name": crate["name"],
        "version": crate["version"],
        "scope": "required" if crate["is_part"] else "excluded",
        "purl": f"pkg:cargo/{crate['name']}@{crate['version'].replace('+', '%2B')}",
        "properties": origin((crate["source"] or "this repository").removeprefix("registry+")),
    }
    if crate["description"]:
        component["description"] = " ".join(crate["description"].split())
    if crate["licence"]:
        component["licenses"] = [{"expression": crate["licence"]}]
    if crate["reference"] in sums:
        component["hashes"] = [{"alg": "SHA-256", "content": sums[crate["reference"]]}]
    return component


def c_components(crate):
    """The C library whose source a crate contains, with the version in its header or its own."""
    if crate["name"] == "libsqlite3-sys":
        header = pathlib.Path(crate["manifest_path"]).parent / "sqlite3/sqlite3.h"
        version = re.search(r'#define SQLITE_VERSION +"(.*)"', header.read_text()).group(1)
        name, licence = "sqlite", {"license": {"id": "blessing"}}
    elif crate["name"] == "zstd-sys":
        name, licence = "zstd", {"license": {"id": "BSD-3-Clause"}}
        version = crate["version"].rpartition("zstd.")[2]
    else:
        return []
    return [{
        "type": "library",
        "bom-ref": f"{name}@{version} in {crate['reference']}",
        "name": name,
        "version": version,
        "scope": "required",
        "purl": f"pkg:generic/{name}@{version}",
        "licenses": [licence],
        "properties": origin(f"in the crate {crate['name']}"),
    }]


def script_components():
    """JavaScript in the repository: files with their sums, and what is bundled in them, whose version
    is not known."""
    readme = (VENDORED / "README.md").read_text()
    components = []
    for heading in re.findall(r"^== (.*)$", (VENDORED / "LICENSES.txt").read_text(), re.M):
        name, version, file = re.fullmatch(r"(\S+?)(?: (\S+) \((.*)\)|, bundled in .*)", heading).groups()
        file = file or heading.rpartition(" ")[2]
        component = {
            "type": "library",
            "bom-ref": f"{name} in {file}",
            "name": name,
            "scope": "required",
            "properties": origin(str(VENDORED / file)),
            "purl": "pkg:npm/" + name.replace("@", "%40") + (f"@{version}" if version else ""),
        }
        if version:
            sum = re.search(rf"^ *(\S+)  {re.escape(file)}$", readme, re.M).group(1)
            component |= {"version": version, "hashes": [{"alg": "SHA-512", "content": sum}],
                          "licenses": [{"license": {"id": "ISC"}}]}
        components.append(component)
    return components


def write_bill(crates):
    sums, program = checksums(), crates[0]
    references = {crate["id"]: crate["reference"] for crate in crates}
    components = [crate_component(crate, sums) for crate in crates[1:]]
    for crate in crates:
        components += c_components(crate) if crate["is_part"] else []
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": TIMESTAMP,
            "component": {
                "type": "application",
                "bom-ref": program["reference"],
                "name": PACKAGE,
                "version": VERSION,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": f"pkg:cargo/steelbench@{VERSION}",
                "properties": [{"name": "steelbench:commit", "value": COMMIT},
                               {"name": "steelbench:target", "value": TRIPLE}],
            },
        },
        "components": components + script_components(),
        "dependencies": [
            {"ref": crate["reference"],
             "dependsOn": [other["reference"] for other in crates if other["id"] in crate["needs"]]}
            for crate in crates],
    }
    assert len(set(references.values())) == len(references), "crates have the same name and version"
    text = json.dumps(bill, indent=2, sort_keys=True, ensure_ascii=False)
    pathlib.Path(FOLDER, "steelbench.cdx.json").write_text(text + "\n")


def write_notices(crates):
    """The texts, each once, with the crates that have it."""
    users, without = {}, []
    for crate in crates:
        if not crate["is_part"] or not crate["source"]:
            continue
        name = f"{crate['name']} {crate['version']} ({crate['licence']})"
        files = [file for file in pathlib.Path(crate["manifest_path"]).parent.iterdir()
                 if file.name.upper().startswith(LICENCES) and file.is_file()]
        texts = sorted("\n".join(line.rstrip() for line in file.read_text().splitlines()).strip("\n")
                       for file in files)
        for text in texts:
            users.setdefault(text, []).append(name)
        without += [] if texts else [name]
    page = ("Licences of the libraries in Steelbench. Steelbench itself is under MIT or Apache-2.0, at "
            "your choice.\n")
    if without:
        page += "\nPackages without a text of their licence, which their manifest names:\n\n"
        page += "".join(f"    {name}\n" for name in without)
    line = "=" * 72
    for text, names in sorted(users.items(), key=lambda item: (item[1], item[0])):
        page += f"\n{line}\n" + "\n".join(names) + f"\n\n{text}\n"
    page += f"\n{line}\n{(VENDORED / 'LICENSES.txt').read_text()}"
    pathlib.Path(FOLDER, "third-party-notices.txt").write_text(page)


crates = read_crates()
write_bill(crates)
write_notices(crates)
