#!/bin/bash
# How many requests a second does a language model on this GPU carry? A sweep to the knee, in under 8 minutes:
#
#     examples/gpu/knee.sh
#
# Starts vLLM, or else `transformers serve` with continuous batching, on a model of about a billion random weights, and
# looks for the highest rate at which TTFT p99 stays within 200 ms and TPOT p99 within 25 ms. Nothing is downloaded.
#
# Needs an NVIDIA GPU with 8 GB, and in $PYTHON (python3) either vllm or transformers[serving], with torch for CUDA.
# $LOADGEN names a loadgen that is built already; otherwise it is built first. What the sweep found is printed, and
# written to $REPORT (knee.json).
#
# Exit status: 77 where there is no GPU; else that of loadgen.
set -euo pipefail

python=${PYTHON:-python3}
report=${REPORT:-knee.json}
# Seconds: until the server answers, and for the sweep.
start_limit=180
sweep_limit=285

if ! nvidia-smi --list-gpus 2>/dev/null | grep -q '^GPU '; then
    echo "knee.sh: there is no NVIDIA GPU here (nvidia-smi lists none): nothing was run"
    exit 77
fi

root=$(cd "$(dirname "$0")/../.." && pwd)
loadgen=${LOADGEN:-}
if [[ -z $loadgen ]]; then
    (cd "$root" && cargo build --release -p openloop-examples --no-default-features --features inference --bin loadgen)
    loadgen=${CARGO_TARGET_DIR:-$root/target}/release/loadgen
fi

folder=$(mktemp -d)
server=
# shellcheck disable=SC2329 # by the trap
finish() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap finish EXIT

can_import() {
    "$python" -c "import importlib.util as util, sys; sys.exit(any(util.find_spec(name) is None for name in sys.argv[1:]))" "$@"
}

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
model=$folder/model
flags=()
if can_import vllm; then
    "$python" "$root/examples/gpu/random_model.py" "$model" --no-weights
    "$python" -m vllm.entrypoints.cli.main serve "$model" --load-format dummy --host 127.0.0.1 --port "$port" \
        --served-model-name random --max-model-len 8192 >"$folder/log" 2>&1 &
    server=$!
    name=random
    flags+=(--ignore-eos)
elif can_import transformers torch fastapi uvicorn openai; then
    "$python" "$root/examples/gpu/random_model.py" "$model"
    "$python" -m transformers.cli.transformers serve "$model" --continuous-batching --host 127.0.0.1 --port "$port" \
        --dtype bfloat16 >"$folder/log" 2>&1 &
    server=$!
    name=$model
    # It says how many tokens there were without being asked, and knows no metrics.
    flags+=(--no-usage --metrics-url none)
else
    echo "knee.sh: $python has neither vllm nor transformers with its server: pip install 'transformers[serving]'" >&2
    exit 1
fi

url=http://127.0.0.1:$port
ask='{"model": "'$name'", "messages": [{"role": "user", "content": "the and"}], "max_tokens": 2}'
begun=$SECONDS
# The first answer comes when the model is loaded and compiled.
until curl --silent --fail --max-time 120 --output /dev/null --header 'content-type: application/json' --data "$ask" \
    "$url/v1/chat/completions"; do
    if ! kill -0 "$server" 2>/dev/null || ((SECONDS - begun > start_limit)); then
        echo "knee.sh: the server did not answer; its last words:" >&2
        tail -n 20 "$folder/log" >&2
        exit 1
    fi
    sleep 1
done
echo "the server answers after $((SECONDS - begun)) s"

status=0
timeout --signal INT --kill-after 30 "$sweep_limit" "$loadgen" inference "$url" --model "$name" "${flags[@]}" \
    --input-tokens lognormal:mean=256,cv=1,min=1,max=2048 --output-tokens lognormal:mean=64,cv=0.8,min=2,max=256 \
    --rate 4 --arrivals poisson --sweep find --slo 'ttft.p99<=200ms,tpot.p99<=25ms' \
    --ramp-up 1s --warm-up 2s --steady 10s --cooldown 0s --drain 10s --timeout 10s --json "$report" || status=$?
exit "$status"
