#!/usr/bin/env bash
# Install what RuleSafe needs: Debian packages (compilers), a virtual environment .venv with pinned
# Python packages, the ROS 2 interfaces and the project. Installed parts are skipped.
# PYTHON=python3.12 selects the Python version.
# `scripts/setup.sh tests` also installs a browser, which some tests control; `scripts/setup.sh
# dependencies` installs all but the project and does not need its sources.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly venv="$PWD/.venv"
readonly log="$PWD/log/setup.log"
readonly integrations=(groot openpi ray_engine urdf xr_teleoperate) # folders of integrations/, without those for other environments

# A sourced ROS 2 would put its own packages before those of .venv.
unset PYTHONDONTWRITEBYTECODE # for compile_imported
unset PYTHONPATH PYTHONHOME AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH
PATH=${PATH//"$venv/bin:"/} # .venv is not created with its own Python

say() { printf 'setup: %s\n' "$*"; }

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# Print the last line of the log every 30 s, until this process is killed or the script has ended.
print_progress() {
    while sleep 30 </dev/null >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        say "... $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-90)"
    done
}

# Run a command with its output in the log; if it fails, print the end of the log and exit.
quietly() {
    printf '\n+ %s\n' "$*" >>"$log"
    print_progress &
    local printer=$! failed=
    "$@" </dev/null >>"$log" 2>&1 || failed=yes
    kill "$printer" 2>/dev/null || true
    wait "$printer" 2>/dev/null || true
    if [[ -n $failed ]]; then
        tail -n 25 "$log" >&2
        fail "failed: $*" "the whole output is in $log"
    fi
}

# --- completed steps, with a fingerprint of their inputs --------------------------------------

fingerprint() { cat "$@" | sha256sum | cut -c1-16; }
is_done() { [[ -f "$venv/.setup-$1" && "$(<"$venv/.setup-$1")" == "$2" ]]; }
mark_done() {
    printf '%s\n' "$2" >"$venv/.setup-$1"
    changed=yes
}

# --- Python ----------------------------------------------------------------------------------

in_range() {
    "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}
has_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
has_headers() {
    "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))'
}
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

# Print the Python to use; one that can create virtual environments is preferred.
choose_python() {
    local candidate
    for check in has_venv true; do
        for candidate in python3.11 python3.12 python3.13 python3.10 python3; do
            if in_range "$candidate" && "$check" "$candidate"; then
                command -v "$candidate"
                return
            fi
        done
    done
}

# --- Debian packages -------------------------------------------------------------------------

as_root() {
    if [[ $EUID -eq 0 ]]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else # sudo drops the environment, including the proxies
        sudo env DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
            ${https_proxy:+"https_proxy=$https_proxy"} ${no_proxy:+"no_proxy=$no_proxy"} "$@"
    fi
}

may_install() {
    command -v apt-get >/dev/null || return 1
    [[ $EUID -eq 0 ]] && return
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null && return
    # Ask for the password only in a terminal.
    [[ -t 0 && -t 2 ]] && sudo -v
}

# Print the missing packages, one per line. $1: the Python; empty if there is none.
missing_packages() {
    local libraries
    libraries=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p)
    command -v cmake >/dev/null || echo cmake
    command -v dot >/dev/null || echo graphviz
    command -v c++ >/dev/null || echo g++
    command -v ninja >/dev/null || echo ninja-build
    [[ $libraries == *libX11.so.6\ * ]] || echo libx11-6 # SAPIEN links to it, even headless
    [[ $libraries == *libgomp.so.1\ * ]] || echo libgomp1
    [[ $libraries == *libseccomp.so.2\ * ]] || echo libseccomp2
    if [[ -z $1 ]]; then
        printf '%s\n' python3 python3-dev python3-venv
    else
        has_headers "$1" || echo "python$(version_of "$1")-dev"
        [[ -x $venv/bin/python ]] || has_venv "$1" || echo "python$(version_of "$1")-venv"
    fi
}

install_packages() {
    say "Debian packages: $*"
    update_lists
    quietly as_root apt-get install -y --no-install-recommends "$@"
}

# Errors of one source are not fatal: the packages may come from the others.
update_lists() {
    as_root apt-get update </dev/null >>"$log" 2>&1 || say "apt-get update had errors: see $log"
}

# shellcheck source=/dev/null
release() { (. /etc/os-release && printf '%s' "${!1:-}"); }

# --- steps -----------------------------------------------------------------------------------

prepare_system() {
    local missing
    mapfile -t missing < <(missing_packages "$python")
    if [[ ${#missing[@]} -gt 0 ]]; then
        may_install ||
            fail "Debian packages are missing, and this user may not install them (neither root nor sudo)." \
                "Please ask an administrator for" "    apt-get install ${missing[*]}" "and call this again."
        install_packages "${missing[@]}"
    fi
    if [[ -z $python ]]; then
        python=$(choose_python)
        [[ -n $python ]] || fail "$(python3 --version) of this release is out of range:" \
            "install Python 3.10 to 3.13 and call this again with PYTHON=/path/to/python."
    fi
}

venv_is_sound() {
    # If pip names another path, the environment was created there and moved here.
    in_range "$venv/bin/python" && grep -qs "$venv/bin/python" "$venv/bin/pip"
}

# Only an environment that make_venv created may be removed; its mark is written before its files.
refuse_foreign_venv() {
    local found=$venv
    if [[ -L $venv ]]; then
        found="$venv, a symbolic link to $(readlink "$venv"),"
    elif [[ ! -e $venv || -f $venv/.setup-created ]] || rmdir "$venv" 2>/dev/null; then
        return
    fi
    fail "$found is not usable here, and this script did not create it, so it is left unchanged." \
        "Move or remove it, and call this again."
}

# Packages are installed only into an environment that has a mark of this script (earlier versions did
# not write .setup-created) or this project.
refuse_own_venv() {
    compgen -G "$venv/.setup-*" >/dev/null && return
    grep -qsF "\"file://$PWD\"" "$venv"/lib/python*/site-packages/rulesafe-*.dist-info/direct_url.json &&
        return
    fail "$venv is a virtual environment that this script did not create, so nothing is installed into it." \
        "Rename or remove it and call this again, or set up another clone of the repository."
}

make_venv() {
    refuse_foreign_venv
    say "virtual environment: .venv with Python $(version_of "$python")"
    rm -rf "$venv"
    mkdir "$venv"
    touch "$venv/.setup-created"
    quietly "$python" -m venv "$venv"
}

install_python_packages() {
    say "Python packages: those of requirements.lock (the first time a few minutes)"
    # Most modules are never imported: see compile_imported.
    local pip=("$venv/bin/python" -m pip install --disable-pip-version-check --no-compile)
    # Packages without a wheel are built with the pinned tools, not with the newest ones.
    local tools="$venv/tools.lock"
    awk '/^[^ ]/ {wanted = /^(setuptools|wheel)==/} wanted' requirements.lock >"$tools"
    quietly "${pip[@]}" --no-deps --require-hashes -r "$tools"
    quietly "${pip[@]}" --no-deps --no-build-isolation --require-hashes -r requirements.lock
    # torch is not in the lock file: builds for the CPU and for CUDA have different files. A build
    # for CUDA also needs its libraries.
    quietly "${pip[@]}" -c constraints.txt torch
    quietly "$venv/bin/python" -m pip check
}

# $1: a package of interfaces.
build_interfaces() {
    say "interfaces: building $1 (a minute or two)"
    quietly "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation \
        --no-deps --force-reinstall "./src/$1"
}

# Install Debian's Chromium if possible; without it, tests that control it are skipped. On Ubuntu,
# the package only installs a snap.
install_browser() {
    command -v chromium >/dev/null && return
    if [[ $(release ID) == debian ]] && may_install; then
        say "browser: Debian's chromium, for tests of the live view"
        update_lists
        as_root apt-get install -y --no-install-recommends chromium </dev/null >>"$log" 2>&1 && return
    fi
    say "browser: no chromium, so tests of the live view's page will be left out"
}

install_project() {
    say "project: installing rulesafe, its studies and ${#integrations[@]} integrations, editable"
    local name folders=()
    for name in ${integrations[@]+"${integrations[@]}"}; do folders+=(-e "integrations/$name"); done
    quietly "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation \
        --no-deps -e . -e studies ${folders[@]+"${folders[@]}"}
}

# Compile the modules that the nodes import, so that the first node starts sooner; all nodes do if
# PYTHONDONTWRITEBYTECODE is set, as in many containers.
compile_imported() {
    say "compiling what the nodes import"
    quietly "$venv/bin/python" -c 'import planner_node.node, policy_node.node, policy_node.dp3
import policy_node.pi0, rulesafe_eval.node, rulesafe_sim.node, vq_memory_node.node, rulesafe_cli.cli'
}

mkdir -p "${log%/*}"
python=${PYTHON:-}
if [[ -n $python ]]; then
    python=$(command -v "$python") || fail "PYTHON=$PYTHON: no such command."
    in_range "$python" ||
        fail "PYTHON=$PYTHON does not run or is out of range: RuleSafe runs on Python 3.10 to 3.13."
    if [[ -x $venv/bin/python && $(version_of "$venv/bin/python") != $(version_of "$python") ]]; then
        refuse_foreign_venv
        say "virtual environment: Python $(version_of "$venv/bin/python") is replaced, PYTHON=$PYTHON"
        rm -rf "$venv"
    fi
fi

system=$(fingerprint scripts/setup.sh)
packages=$(fingerprint constraints.txt requirements.lock)
# Unitree's packages are built with the CMake files of rulesafe_interfaces.
interfaces_of() {
    find "src/$1" src/rulesafe_interfaces/cmake -type f | LC_ALL=C sort -u | xargs cat constraints.txt | fingerprint -
}

if ! venv_is_sound; then
    refuse_foreign_venv
    [[ -n $python ]] || python=$(choose_python)
    prepare_system
    make_venv
    mark_done system "$system"
else
    refuse_own_venv
fi
if ! is_done system "$system"; then
    python="$venv/bin/python"
    prepare_system
    mark_done system "$system"
fi
is_done packages "$packages" || { install_python_packages && mark_done packages "$packages"; }
for name in rulesafe_interfaces control_msgs tf2_msgs unitree_hg unitree_go; do
    interfaces=$(interfaces_of "$name")
    is_done "$name" "$interfaces" || { build_interfaces "$name" && mark_done "$name" "$interfaces"; }
done
if [[ ${1:-} == dependencies ]]; then exit; fi
project=$(fingerprint pyproject.toml setup.py scripts/kernels.py src/rulesafe_render/rulesafe_render/native/* \
    studies/pyproject.toml integrations/*/pyproject.toml)
is_done project "$project" || { install_project && mark_done project "$project"; }
is_done compiled "$packages" || { compile_imported && mark_done compiled "$packages"; }
if [[ ${1:-} == tests ]]; then install_browser; fi
if [[ -n ${changed:-} ]]; then
    say "done; \`source .venv/bin/activate\` brings the command rulesafe, \`make demo\` shows a run"
fi
