# SPDX-License-Identifier: Apache-2.0
"""Lets vLLM's own front end choose engines. Each line of standard input is a JSON
object with what happens to a DPLBAsyncMPClient; the line that answers it has, for
each step, the rank chosen (null for other steps) and the requests in flight by
engine."""

import json
import sys
from collections import Counter

from vllm import PoolingParams, SamplingParams
from vllm.pooling_params import LateInteractionParams
from vllm.v1.engine import EngineCoreOutputs, EngineCoreRequest
from vllm.v1.engine.core_client import DPLBAsyncMPClient


def client(scenario):
    """A client without sockets: what the choice reads and writes, as __init__ sets it."""
    c = object.__new__(DPLBAsyncMPClient)
    first, n = scenario["first"], scenario["engines"]
    c.client_count, c.client_index = scenario["client_count"], scenario["client_index"]
    c.engine_ranks_managed = list(range(first, first + n))
    c.core_engines = [rank.to_bytes(2, "little") for rank in c.engine_ranks_managed]
    c.reqs_in_flight, c.engine_inflight = {}, Counter()
    c.lb_engines = [[0, 0, 0.0] for _ in range(n)]
    c.eng_start_index = (n * c.client_index) // c.client_count
    return c


def request(step):
    sampling, pooling = SamplingParams(max_tokens=1), None
    if step.get("late_mode"):
        late = LateInteractionParams(mode=step["late_mode"], query_key=step.get("late_key", ""))
        sampling, pooling = None, PoolingParams(task="token_embed", late_interaction_params=late)
    return EngineCoreRequest(
        request_id=step["id"], prompt_token_ids=[1], mm_features=None, sampling_params=sampling,
        pooling_params=pooling, arrival_time=0.0, lora_request=None, cache_salt=None,
        data_parallel_rank=step.get("pin"),
    )


def finish(c, ids):
    try:
        c.process_engine_outputs(c, EngineCoreOutputs(finished_requests=set(ids))).send(None)
    except StopIteration:
        return
    raise RuntimeError("process_engine_outputs waits for something")


def play(scenario):
    c, told = client(scenario), []
    for step in scenario["steps"]:
        chosen = None
        if step["op"] == "add":
            chosen = int.from_bytes(c.get_core_engine_for_request(request(step)), "little")
        elif step["op"] == "finish":
            finish(c, step.get("ids", []))
        else:
            ranks = c.engine_ranks_managed
            c.lb_engines = step["rows"][ranks[0] : ranks[-1] + 1]
        told.append({"chosen": chosen, "inflight": [c.engine_inflight[e] for e in c.core_engines]})
    return told


for line in sys.stdin:
    print(json.dumps(play(json.loads(line))), flush=True)
