# SPDX-License-Identifier: Apache-2.0
"""Runs vLLM's own front end of two data-parallel engines, once for each line of
standard input: a JSON object with its addresses and bursts of requests. The next
burst waits until every request of the last one has ended and, in lockstep, the wave
too. The line that answers says what came of it."""

import asyncio
import copy
import json
import sys
import time

answers, sys.stdout = sys.stdout, sys.stderr  # where vLLM logs

from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.v1.engine import EngineCoreRequest
from vllm.v1.engine.core_client import DPLBAsyncMPClient


def request(r):
    return EngineCoreRequest(
        request_id=r["id"], prompt_token_ids=r["prompt"], mm_features=None,
        sampling_params=SamplingParams(max_tokens=r["tokens"], ignore_eos=True), pooling_params=None,
        arrival_time=time.time(), lora_request=None, cache_salt=None, data_parallel_rank=None,
    )


class Run:
    def __init__(self, config, order):
        self.order = order
        self.client = DPLBAsyncMPClient(
            copy.deepcopy(config), None, False, client_addresses={
                "input_address": order["input"], "output_address": order["output"],
                "stats_update_address": order["front"],
            },
        )
        self.tokens, self.ranks, self.seconds, self.began = {}, {}, {}, {}
        self.rows, self.live, self.idle = [], set(), asyncio.Event()

    async def read(self):
        while True:
            for o in (await self.client.get_output_async()).outputs:
                self.tokens[o.request_id] += o.new_token_ids
                if o.finished:
                    self.seconds[o.request_id] = time.monotonic() - self.began[o.request_id]
                    self.live.discard(o.request_id)
            if not self.live:
                self.idle.set()

    async def watch(self):
        while True:
            rows = [list(row) for row in self.client.lb_engines]
            if not self.rows or self.rows[-1] != rows:
                self.rows.append(rows)
            await asyncio.sleep(0.005)

    async def burst(self, requests):
        wave = self.client.current_wave
        self.idle.clear()
        self.live |= {r["id"] for r in requests}
        for r in requests:
            self.tokens[r["id"]], self.began[r["id"]] = [], time.monotonic()
            await self.client.add_request_async(request(r))
            rank = self.client.reqs_in_flight.get(r["id"])
            self.ranks[r["id"]] = int.from_bytes(rank, "little") if rank else None
        await self.idle.wait()
        while self.order["lockstep"] and self.client.current_wave == wave:
            await asyncio.sleep(0.005)

    async def play(self):
        tasks = [asyncio.create_task(self.read()), asyncio.create_task(self.watch())]
        try:
            for requests in self.order["bursts"]:
                await asyncio.wait_for(self.burst(requests), 60)
            await asyncio.sleep(self.order["linger"])
        except asyncio.TimeoutError:
            pass  # those that are missing tell
        c = self.client
        told = {
            "tokens": self.tokens, "ranks": self.ranks, "seconds": self.seconds, "rows": self.rows,
            "inflight": [c.engine_inflight[e] for e in c.core_engines],
            "wave": c.current_wave, "running": c.engines_running,
        }
        for task in tasks:
            task.cancel()
        c.shutdown()
        return told


async def main(config):
    for line in sys.stdin:
        print(json.dumps(await Run(config, json.loads(line)).play()), file=answers, flush=True)


args = AsyncEngineArgs(
    model=sys.argv[1], skip_tokenizer_init=True, dtype="float32", max_model_len=1024, data_parallel_size=2
)
asyncio.run(main(args.create_engine_config()))
