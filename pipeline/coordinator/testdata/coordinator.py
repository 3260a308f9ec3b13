# SPDX-License-Identifier: Apache-2.0
"""Runs vLLM's own coordinators, one for each line of standard input (a JSON
object with the arguments of run_coordinator), until standard input ends."""

import json
import multiprocessing
import sys

from vllm.v1.engine.coordinator import DPCoordinatorProc

fork = multiprocessing.get_context("fork")  # the import takes most of a minute
for line in sys.stdin:
    fork.Process(
        target=DPCoordinatorProc.run_coordinator, kwargs=json.loads(line), daemon=True
    ).start()
