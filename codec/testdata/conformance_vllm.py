# SPDX-License-Identifier: Apache-2.0
"""The other side of the conformance test with real vLLM: its own classes, encoder
and decoder. The lines are those of conformance.py:

  {"op": "releases"}                                 -> {"release": "0.32.0", "msgspec": ...}
  {"op": "decode", "kind": "request", "frames": ...} -> what vLLM reads, and how it writes that
  {"op": "sample", "kind": "outputs", "seed": N}     -> random outputs as vLLM writes them
"""
import dataclasses
import json
import os
import sys
import warnings

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

import msgspec
import numpy as np
import torch
import vllm
from msgspec import inspect
from vllm.multimodal.inputs import MultiModalKwargsItem
from vllm.v1.engine import EngineCoreOutputs, EngineCoreRequest
from vllm.v1.serial_utils import MsgpackDecoder, MsgpackEncoder, UtilityResult

import wire_coder
from wire_sample import Sampler


warnings.filterwarnings("ignore", message="The given buffer is not writable")


def tensor_bytes(t):
    return t.contiguous().flatten().view(torch.uint8).numpy().tobytes() if t.numel() else b""


def nested(v):
    return [nested(x) for x in v] if isinstance(v, (list, tuple)) else plain(v)


def plain(v):
    """wire_coder.plain with vLLM's classes in place of ours."""
    if isinstance(v, torch.Tensor):
        return {"$tensor": {"dtype": str(v.dtype).removeprefix("torch."), "shape": list(v.shape), "bytes": tensor_bytes(v).hex()}}
    if isinstance(v, np.ndarray):
        return {"$ndarray": {"dtype": str(v.dtype), "shape": list(v.shape), "bytes": v.tobytes().hex()}}
    if isinstance(v, UtilityResult):
        return {"type_info": None, "result": plain(v.result)}
    if isinstance(v, slice):
        return [v.start, v.stop, v.step]
    if isinstance(v, MultiModalKwargsItem):
        return [item(k, e) for k, e in v.items()]
    if dataclasses.is_dataclass(v):
        return {f.name: plain(getattr(v, f.name)) for f in dataclasses.fields(v)}
    if isinstance(v, msgspec.Struct):
        return {f: plain(getattr(v, f)) for f in v.__struct_fields__}
    if hasattr(v, "_asdict"):
        return {k: plain(x) for k, x in v._asdict().items()}
    if isinstance(v, dict) and all(type(k) is str for k in v):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return wire_coder.plain(v)


def item(key, elem):
    """One processor output; the kind is the field class's name in between."""
    args = {f.name: getattr(elem.field, f.name) for f in dataclasses.fields(elem.field)}
    form = {"kind": type(elem.field).__name__.removeprefix("MultiModal").removesuffix("Field").lower()}
    for k, v in args.items():
        grouped = k == "slices" and v and not isinstance(v[0], slice)
        form["slice_groups" if grouped else k] = nested(v)
    return {"key": key, "value": plain(elem.data), "field": form}


class VLLMSampler(Sampler):
    """Makes real dataclasses, numpy arrays and torch tensors."""

    def DataclassType(self, t, name):
        made = {f.name: self.value(f.type, f.name) for f in t.fields}
        fixed = [f.name for f in dataclasses.fields(t.cls) if not f.init]
        v = t.cls(**{k: x for k, x in made.items() if k not in fixed})
        for k in fixed:
            setattr(v, k, made[k])
        return v

    def CustomType(self, t, name):
        if t.cls is UtilityResult:
            return UtilityResult(self.anything(2))
        return super().CustomType(t, name)

    def tensor(self, cls, shape, dtype):
        n = int(np.prod(shape))
        array = np.frombuffer(self.r.randbytes(n * np.dtype(dtype).itemsize), dtype=dtype).reshape(shape)
        if cls is torch.Tensor:
            return torch.from_numpy(array.copy()) if n else torch.empty(shape, dtype=getattr(torch, dtype))
        return array


class Peer:
    def __init__(self):
        self.encoder = MsgpackEncoder()
        self.decoder = MsgpackDecoder(EngineCoreRequest)

    def answer(self, q):
        return getattr(self, q["op"])(q)

    def releases(self, q):
        return {"release": vllm.__version__, "msgspec": msgspec.__version__}

    def decode(self, q):
        return self.shown(self.decoder.decode([bytes.fromhex(f) for f in q["frames"]]))

    def sample(self, q):
        return self.shown(VLLMSampler(q["seed"]).value(inspect.type_info(EngineCoreOutputs), ""))

    def shown(self, v):
        return {"value": plain(v), "frames": [bytes(f).hex() for f in self.encoder.encode(v)]}


def main():
    peer = Peer()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what vLLM prints is no answer.
    for line in sys.stdin:
        try:
            answer = peer.answer(json.loads(line))
        except Exception as e:  # the test judges it.
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
