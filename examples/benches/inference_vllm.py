"""The client of `vllm bench serve` by itself: python3 inference_vllm.py FOLDER URL RATE COUNT TOKENS

FOLDER is what `cargo testbed --full` installs: vLLM's own function for one request, unchanged, and aiohttp. The loop
around it is that of vLLM's serve.py with a request rate and a burstiness of infinity: one task for each request, created
at its absolute instant, over one session with serve.py's connector.

Prints one line of JSON: requests that failed, and p50 and p99 of TTFT and ITL in nanoseconds, by rank.
"""

import asyncio
import json
import math
import sys
import time

folder, url, rate, count, tokens = sys.argv[1:]
sys.path.insert(0, folder)
import aiohttp  # noqa: E402
import endpoint_request_func as vllm  # noqa: E402


async def benchmark(rate: float, count: int) -> list:
    connector = aiohttp.TCPConnector(
        limit=0,
        limit_per_host=0,
        ttl_dns_cache=300,
        use_dns_cache=True,
        keepalive_timeout=60,
        enable_cleanup_closed=True,
        force_close=False,
        ssl=False,
    )
    timeout = aiohttp.ClientTimeout(total=6 * 60 * 60)
    async with aiohttp.ClientSession(connector=connector, trust_env=True, timeout=timeout) as session:
        tasks = []
        start = time.time()
        for number in range(count):
            wait = start + number / rate - time.time()
            if wait > 0:
                await asyncio.sleep(wait)
            request = vllm.RequestFuncInput(
                prompt="",
                chat_messages=[{"role": "user", "content": "word " * 8}],
                api_url=f"{url}/v1/chat/completions",
                prompt_len=8,
                output_len=int(tokens),
                model="testbed",
            )
            tasks.append(asyncio.create_task(vllm.async_request_openai_chat_completions(request, session)))
        return await asyncio.gather(*tasks)


def quantiles(values: list) -> list:
    values.sort()
    rank = lambda q: min(len(values), max(1, math.ceil(q * len(values)))) - 1
    return [round(1e9 * values[rank(q)]) for q in (0.5, 0.99)] if values else [0, 0]


outputs = asyncio.run(benchmark(float(rate), int(count)))
served = [output for output in outputs if output.success]
print(
    json.dumps(
        {
            "failed": len(outputs) - len(served),
            "ttft": quantiles([output.ttft for output in served]),
            "itl": quantiles([gap for output in served for gap in output.itl]),
        }
    )
)
