#!/bin/sh
# Make .venv ready. Usage: scripts/setup.sh runtime | dev | dashboard | browser
#
# 1. Needs only python3 (3.11 or newer), git (2.38 or newer) and a shell.
# 2. Installs exactly the pinned, hashed sets in requirements/; which index they come from is pip's own setting.
# 3. Safe to repeat and to run twice at once: the second one waits (where `flock` exists) and then finds it done.
set -eu
cd "$(dirname "$0")/.."
set_up=scripts/setup.sh

wanted=${1:?usage: scripts/setup.sh runtime|dev|dashboard|browser}
venv=.venv

fail() {
    printf 'setup: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '  %s\n' "$line" >&2; done
    exit 7
}

say() { printf 'setup: %s\n' "$1" >&2; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14; do
        if command -v "$name" >/dev/null 2>&1 && new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    found=$(python3 --version 2>/dev/null || echo "no python3 on PATH")
    fail "Python 3.11 or newer is needed; found: $found" \
        "Debian, Ubuntu: apt-get install python3 python3-venv" \
        "Fedora:         dnf install python3" \
        "macOS:          brew install python@3.13" \
        "or name one:    make PYTHON=/path/to/python3.13 ..."
}

need_git() {
    command -v git >/dev/null 2>&1 || fail "git is needed and is not on PATH" \
        "Debian, Ubuntu: apt-get install git" "Fedora:         dnf install git" "macOS:          brew install git"
    version=$(git --version | sed 's/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
    major=${version% *}
    minor=${version#* }
    if [ "$major" -lt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -lt 38 ]; }; then
        fail "git 2.38 or newer is needed (merges are built in memory by merge-tree); found $major.$minor" \
            "install a newer git, and put it first on PATH"
    fi
}

# Agents and checks run in a sandbox made by bubblewrap. Without it the rest still works, so this never fails.
want_bubblewrap() {
    [ "$(uname -s)" = Linux ] || return 0
    command -v bwrap >/dev/null 2>&1 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing bubblewrap, which agents are sandboxed with"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq bubblewrap; } >/dev/null 2>&1 || true
        command -v bwrap >/dev/null 2>&1 && return 0
        say "warning: bubblewrap could not be installed; agents get a reduced sandbox, or none: interlock doctor"
        return 0
    fi
    say "warning: bubblewrap is not installed, and agents are sandboxed with it:"
    for line in "Debian, Ubuntu: sudo apt-get install bubblewrap" "Fedora:         sudo dnf install bubblewrap" \
        "Arch:           sudo pacman -S bubblewrap"; do printf '  %s\n' "$line" >&2; done
}

# The tests of the dashboard drive the system's own Chromium. Without it they say what is missing.
want_chromium() {
    for name in chromium chromium-browser google-chrome; do command -v "$name" >/dev/null 2>&1 && return; done
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing chromium, which the dashboard is tested in"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null 2>&1 || true
        command -v chromium >/dev/null 2>&1 && return
    fi
    fail "chromium is not installed, and the dashboard is tested in it" \
        "Debian, Ubuntu: sudo apt-get install chromium" "Fedora:         sudo dnf install chromium"
}

# Debian splits venv's pip bootstrap into its own package.
need_ensurepip() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    package=python3-venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "this Python cannot make virtual environments; installing $package"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } >/dev/null 2>&1 || true
        "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    fi
    fail "$1 cannot make virtual environments (its ensurepip module is missing)" \
        "Debian, Ubuntu: sudo apt-get install $package" \
        "or name another: make PYTHON=/path/to/python3.13 ..."
}

make_venv() {
    new_enough "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return
    python=$(find_python) || exit $?
    need_ensurepip "$python"
    say "making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
}

install() {
    "$venv/bin/python" -m pip install -qq --no-input --disable-pip-version-check --no-warn-script-location "$@" \
        || fail "pip could not install the pinned packages; its message is above" "then run the same command again"
}

# Nothing is installed twice: the mark holds the checksum of all that decides what is in .venv. Settings of the
# tools (from [tool.pytest] down) do not, so changing a lint rule does not reinstall anything.
checksum() {
    { sed '/^\[tool\.pytest/,$d' pyproject.toml; cat "$set_up" requirements/build.txt "requirements/$1.txt"; } | cksum
    pwd
}

fill_venv() {
    mark="$venv/.ready-$1"
    if [ "$(cat "$mark" 2>/dev/null)" = "$(checksum "$1")" ]; then
        touch "$mark"
        return
    fi
    say "installing requirements/$1.txt"
    install --require-hashes -r requirements/build.txt -r "requirements/$1.txt"
    install --no-deps --no-build-isolation --no-index -e .
    checksum "$1" >"$mark"
}

case $wanted in
runtime | dev | dashboard | browser) ;;
*) fail "unknown set '$wanted'" "choose runtime, dev, dashboard or browser" ;;
esac
need_git
mkdir -p "$venv"
if command -v flock >/dev/null 2>&1; then
    exec 9>.venv.lock
    flock 9
fi
make_venv
want_bubblewrap
[ "$wanted" != browser ] || want_chromium
fill_venv "$wanted"
[ "$wanted" != dev ] || checksum runtime >"$venv/.ready-runtime"
