#!/bin/sh
# Sets up .venv for this clone.  usage: scripts/setup.sh [run|dev]
#
#   run   Sloyd and what it needs to run (what `make demo` uses)
#   dev   the same, and the development tools (what `make check` uses)
#
# Uses uv where it is installed, plain venv and pip where not. PYTHON=... chooses the interpreter.
# A stamp file remembers what was installed from which pyproject.toml, so that the second time
# costs nothing.
set -eu

kind=${1:-dev}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$here"
venv=.venv
chosen=${PYTHON:-}
probe='import sys; sys.exit(sys.version_info < (3, 11))'

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null; }
can_make_venvs() { "$1" -c 'import venv, ensurepip' 2>/dev/null; }
has_uv() { uv --version >/dev/null 2>&1; }

# A directory full of pyenv shims has every name and runs few of them, so each candidate is tried.
find_python() {
    python= unsuited= too_old=
    for candidate in ${chosen:-python3.14 python3.13 python3.12 python3.11 python3 python}; do
        found=$(version_of "$candidate") || continue
        if ! "$candidate" -c "$probe" 2>/dev/null; then
            too_old="${too_old:+$too_old, }$found ($candidate)"
        elif has_uv || can_make_venvs "$candidate"; then
            python=$candidate
            return
        else
            unsuited="${unsuited:+$unsuited, }$candidate ($found)"
        fi
    done
}

explain_missing_python() {
    if [ -n "$unsuited" ]; then
        say "$unsuited cannot make virtual environments: the venv or ensurepip module is missing."
        fail "Debian and Ubuntu: apt install python3-venv. Or install uv, or set PYTHON=..."
    elif [ -n "$too_old" ]; then
        fail "Python 3.11 or newer is needed; found $too_old. Install one, or set PYTHON=/path/to/it"
    elif [ -n "$chosen" ]; then
        fail "PYTHON=$chosen does not run. Set it to a Python 3.11 or newer."
    else
        fail "no Python was found. Install Python 3.11 or newer, or set PYTHON=/path/to/it"
    fi
}

# What the environment was made from; when nothing of it changed, there is nothing to do.
fingerprint() {
    printf '%s\n' "$here" "$(cat pyproject.toml scripts/setup.sh | cksum)"
    [ -x $venv/bin/python ] && version_of $venv/bin/python
}

is_ready() {
    [ -f "$venv/.ready-$1" ] && [ "$(fingerprint 2>/dev/null)" = "$(cat "$venv/.ready-$1")" ] &&
        { [ -z "$chosen" ] || [ "$(version_of "$chosen")" = "$(version_of $venv/bin/python)" ]; }
}

make_venv() {
    find_python
    if [ -z "$python" ] && [ -z "$chosen" ] && has_uv; then
        python='>=3.11' # uv knows where to get one
    fi
    [ -n "$python" ] || explain_missing_python
    if [ -e $venv ] && [ ! -f $venv/pyvenv.cfg ]; then
        fail "$here/$venv is in the way and is not a virtual environment. Move it away."
    fi
    rm -rf $venv
    if has_uv; then
        say "making $venv with uv and Python $python"
        uv venv --quiet --python "$python" $venv
    else
        say "making $venv with $python ($(version_of "$python"))"
        "$python" -m venv $venv
    fi
}

# pip before 25.1 does not know dependency groups; tomllib reads them as well.
dev_requirements() {
    $venv/bin/python -c '
import tomllib
with open("pyproject.toml", "rb") as file:
    print("\n".join(tomllib.load(file)["dependency-groups"]["dev"]))'
}

install() {
    say "installing Sloyd$1"
    shift
    if has_uv; then
        uv pip install --quiet --python $venv/bin/python "$@"
    else
        $venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"
    fi || fail "the installation failed (see above). Is the package index reachable?"
}

is_ready "$kind" && exit 0
if [ "$kind" = run ] && is_ready dev; then
    exit 0
fi

if ! { [ -x $venv/bin/python ] && $venv/bin/python -c "$probe" 2>/dev/null &&
    { has_uv || $venv/bin/python -m pip --version >/dev/null 2>&1; } &&
    { [ ! -f $venv/.ready-run ] || [ "$(head -n 1 $venv/.ready-run)" = "$here" ]; } &&
    { [ -z "$chosen" ] || [ "$(version_of "$chosen")" = "$(version_of $venv/bin/python)" ]; }; }; then
    make_venv
fi

rm -f $venv/.ready-*
case $kind in
run) install "" --editable . ;;
dev)
    dev_requirements >$venv/dev-requirements.txt
    install " and the development tools" --editable . --requirement $venv/dev-requirements.txt
    ;;
*) fail "unknown kind $kind; it is run or dev" ;;
esac
fingerprint >$venv/.ready-run
[ "$kind" = run ] || fingerprint >$venv/.ready-dev
