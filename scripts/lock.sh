#!/bin/sh
# Update constraints.txt to versions that pyproject.toml allows, for Python 3.10 to 3.13 on x86_64
# Linux, and requirements.lock, the same versions with the hashes of their files. Needs uv. Without
# arguments, only pins that are no longer allowed change; `--upgrade-package NAME` updates one
# package.
set -eu
cd "$(dirname "$0")/.."
pins=$(mktemp)
trap 'rm -f "$pins"' EXIT
cp constraints.txt "$pins"
uv pip compile -q pyproject.toml --all-extras --universal --python-version 3.10 \
    --no-header --no-annotate -o "$pins" "$@"
{
    echo "# The versions that are tested, Python 3.10 to 3.13, x86_64 Linux. Renew: scripts/lock.sh"
    # All lines are for Linux: keep only conditions on the Python version. CUDA packages are left
    # out, since torch for the CPU does not need them; pip installs them with other builds.
    sed -e "s/ and [a-z_]* [!=]= '[^']*'//g" -e "s/python_full_version < '3.14'//" \
        -e "s/ ; *$//" -e "s/ ;  *and / ; /" -e "s/ and *$//" -e "/^cuda-\|^nvidia-\|^triton=/d" "$pins"
} > constraints.txt
# torch has no hashes: an index of builds for the CPU or another CUDA has other files.
grep -v "^torch==" constraints.txt > "$pins"
{
    echo "# The versions of constraints.txt, torch aside, with SHA-256. Renew: scripts/lock.sh"
    uv pip compile -q "$pins" --no-deps --generate-hashes --universal --python-version 3.10 \
        --no-header --no-annotate |
        sed -e "s/ and [a-z_]* [!=]= '[^']*'//g" -e "s/python_full_version < '3.14'//" \
            -e "s/ ; *\\\\$/ \\\\/" -e "s/ ;  *and / ; /" -e "s/ and *\\\\$/ \\\\/"
} > requirements.lock
