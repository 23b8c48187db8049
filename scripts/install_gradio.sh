#!/usr/bin/env bash
# Makes an environment with the newest Gradio that pyproject.toml allows, or the oldest, which
# `make test-gradio` tests pages with: scripts/install_gradio.sh .venv-gradio newest|oldest
#
# All else is that of .venv; where constraints.txt names that release already, nothing is added.
set -euo pipefail

usage="usage: install_gradio.sh FOLDER newest|oldest"
folder=${1:?$usage}
which=${2:?$usage}
here=$(cd "$(dirname "$0")/.." && pwd)
product=$here/.venv
range=$(sed -n 's/^ *"\(gradio[^"]*\)",$/\1/p' "$here/pyproject.toml")
case $which in
newest) wanted=$range ;;
oldest) wanted=$(sed 's/>=\([0-9.]*\),.*/==\1.*/' <<<"$range") ;;
*) echo "$usage" >&2 && exit 2 ;;
esac
log=$(mktemp)
constraints=$(mktemp)
trap 'rm -f "$log" "$constraints"' EXIT

run() { # what it is for, then the command
    local what=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        echo "install_gradio: $what failed:" >&2
        grep -v '^WARNING: ' "$log" | tail -n 15 >&2 || true
        exit 1
    fi
}

rm -rf "$folder"
run "making the environment" "$product/bin/python" -m venv "$folder"
# Its own packages come first, those of .venv after them.
packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
packages "$product" >"$(packages "$folder")/product.pth"
# An older Gradio may need an older huggingface_hub.
grep -v '^gradio\|^huggingface' "$here/constraints.txt" >"$constraints"
run "installing $wanted" "$folder/bin/python" -m pip --disable-pip-version-check install \
    --upgrade -c "$constraints" "$wanted"
version() { "$1/bin/python" -c 'from importlib.metadata import version; print(version("gradio"))'; }
echo "Gradio $(version "$folder"), the $which of $range; constraints.txt has $(version "$product")"
