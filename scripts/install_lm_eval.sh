#!/usr/bin/env bash
# Makes an environment with lm-eval, which `make test-benchmarks` computes official figures with:
# scripts/install_lm_eval.sh .venv-lmeval
#
# evalui and all that it needs are those of .venv; what lm-eval adds is 0.3 GB and takes a minute.
# Run again, it does nothing.
set -euo pipefail

folder=${1:?usage: install_lm_eval.sh FOLDER}
here=$(cd "$(dirname "$0")/.." && pwd)
product=$here/.venv
harness=lm-eval==0.4.13
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # what it is for, then the command
    local what=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        echo "install_lm_eval: $what failed:" >&2
        grep -v '^WARNING: ' "$log" | tail -n 15 >&2 || true
        exit 1
    fi
}

recipe=$(cat "$0" "$here/constraints.txt" | sha256sum)
if [ "$(cat "$folder/complete" 2>/dev/null)" = "$recipe" ]; then
    exit 0
fi
rm -rf "$folder"
run "making the environment" "$product/bin/python" -m venv "$folder"
# Its own packages come first, those of .venv after them.
packages() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
packages "$product" >"$(packages "$folder")/product.pth"
run "installing $harness" "$folder/bin/python" -m pip --disable-pip-version-check install \
    -c "$here/constraints.txt" "$harness"
run "importing lm-eval" "$folder/bin/python" -c 'import lm_eval.evaluator, lm_eval.tasks'
echo "$recipe" >"$folder/complete"
