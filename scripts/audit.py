"""Looks our pinned packages up in the advisory database: `make audit`. Installs pip-audit into .venv/audit.

pip-audit says "No known vulnerabilities found" also of packages that it could not look up. So the packages
that were looked up are counted here: where there was none, the result is "not checked", never "none known".

Exit status: 0 none known, or nothing could be checked (the text says which); 1 a known vulnerability.
"""

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PINS = ("runtime.txt", "build.txt", "dev.txt")
REQUIREMENTS = Path("requirements")
HOME = Path(".venv/audit")
ANSWER_SECONDS = 15
ALL_SECONDS = 600


def main() -> int:
    """Audit the pins and say what was found, and of how many packages."""
    if not install():
        print("audit: not checked: pip-audit could not be installed")
        return 0
    packages = {package["name"]: package for pins in PINS for package in looked_up(REQUIREMENTS / pins)}
    checked = [package for package in packages.values() if "skip_reason" not in package]
    if not checked:
        print("audit: not checked: the advisory database could not be reached")
        return 0
    found = [line for package in checked for line in lines(package)]
    print(f"audit: {len(checked)} of {len(packages)} packages checked, {len(found)} known vulnerabilities")
    print("\n".join(found))
    return 1 if found else 0


def install() -> bool:
    """Make the folder with pip-audit; True when it is there."""
    if not (HOME / "bin/pip-audit").exists():
        venv.create(HOME, with_pip=True)
        words = ("install", "-qq", "--require-hashes", "-r", str(REQUIREMENTS / "audit.txt"))
        subprocess.run((HOME / "bin/python", "-m", "pip", *words), check=False, timeout=ALL_SECONDS)
    return (HOME / "bin/pip-audit").exists()


def looked_up(pins: Path) -> list[dict[str, Any]]:  # Any: JSON of pip-audit
    """Return one entry for each pinned package; none where pip-audit itself failed."""
    words = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    try:
        done = subprocess.run(
            (HOME / "bin/pip-audit", "-r", pins, *words, "--timeout", str(ANSWER_SECONDS)),
            capture_output=True,
            text=True,
            check=False,
            timeout=ALL_SECONDS,
        )
        entries = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return []
    return list(entries)


def lines(package: dict[str, Any]) -> Iterator[str]:  # Any: JSON of pip-audit
    """Give a line for each advisory of a package."""
    for advisory in package["vulns"]:
        mended = ", ".join(advisory["fix_versions"]) or "no version yet"
        yield f"  {package['name']} {package['version']}: {advisory['id']}, mended in {mended}"


if __name__ == "__main__":
    sys.exit(main())
