# SPDX-License-Identifier: Apache-2.0
"""The other side of the conformance test: msgspec, one JSON line for each on
standard input and output.

  {"op": "releases"}                                -> {"releases": [...], "msgspec": "0.23.0"}
  {"op": "decode", "kind": K, "release": R, "frames": [hex...]}
                  -> {"value": ..., "frames": [hex...]}   as read, and as msgspec writes it again
  {"op": "sample", "kind": K, "release": R, "seed": N}   -> the same of a random value
  {"op": "bench", "kind": K, "release": R, "way": "encode" | "encode_into" | "decode",
   "messages": [[hex...]...], "seconds": S}              -> {"ns": nanoseconds a message}

An answer of {"error": ...} says what msgspec has against the message.
"""
import itertools
import json
import os
import sys
import time

import msgspec

from wire_coder import Coder, plain
from wire_sample import Sampler
from wire_types import Release, read_layouts, releases

KINDS = {
    "request": "EngineCoreRequest", "outputs": "EngineCoreOutputs", "lora": "LoRARequest",
    "ready": "EngineCoreReadyResponse", "init": "EngineHandshakeMetadata",
}
# Fields whose unknown neighbours are reported: vLLM reads over them, and so would not do what they ask.
WATCHED = "sampling_params"


class Peer:
    def __init__(self, layouts):
        self.layouts = layouts
        self.types = {}
        self.coders = {}

    def coder(self, kind, release):
        if (kind, release) not in self.coders:
            names = self.types.setdefault(release, Release(self.layouts, release))
            self.coders[kind, release] = Coder(names[KINDS[kind]])
        return self.coders[kind, release]

    def answer(self, q):
        return getattr(self, q["op"])(q)

    def releases(self, q):
        return {"releases": releases(self.layouts), "msgspec": msgspec.__version__}

    def decode(self, q):
        coder = self.coder(q["kind"], q["release"])
        frames = [bytes.fromhex(f) for f in q["frames"]]
        value = coder.decode(frames)
        return {**self.shown(coder, value), "unknown": self.unknown(coder, frames, value)}

    def sample(self, q):
        coder = self.coder(q["kind"], q["release"])
        return self.shown(coder, Sampler(q["seed"]).of(coder.kind))

    def shown(self, coder, value):
        return {"value": plain(value), "frames": [bytes(f).hex() for f in coder.encode(value)]}

    def unknown(self, coder, frames, value):
        """The keys of the sampling parameters that the release does not know."""
        if getattr(value, WATCHED, None) is None:
            return []
        raw = msgspec.msgpack.decode(frames[0], strict=True, ext_hook=coder.ext)
        sent = raw[coder.kind.__struct_fields__.index(WATCHED)]
        return sorted(set(sent) - set(getattr(value, WATCHED).__struct_fields__))

    def bench(self, q):
        coder = self.coder(q["kind"], q["release"])
        messages = [[bytes.fromhex(f) for f in m] for m in q["messages"]]
        if q["way"] == "decode":
            work, inputs = coder.decoder.decode, [m[0] for m in messages]
        elif q["way"] == "encode_into":
            buffer, into = bytearray(1 << 16), coder.encoder.encode_into
            work, inputs = lambda v: into(v, buffer), [coder.decode(m) for m in messages]
        else:
            work, inputs = coder.encoder.encode, [coder.decode(m) for m in messages]
        runs, spent = 1, 0.0
        while spent < q["seconds"]:
            runs *= 2
            begin = time.perf_counter()
            for v in itertools.islice(itertools.cycle(inputs), runs):
                work(v)
            spent = time.perf_counter() - begin
        return {"ns": spent / runs * 1e9}


def main():
    peer = Peer(read_layouts(os.path.join(os.path.dirname(__file__), "..", "layouts.json")))
    for line in sys.stdin:
        try:
            answer = peer.answer(json.loads(line))
        except Exception as e:  # the test judges it.
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
