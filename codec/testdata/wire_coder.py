# SPDX-License-Identifier: Apache-2.0
"""msgspec encoder and decoder of one type, with vLLM's form of tensors, and the
JSON form in which values go to the Go test and come from nowhere else."""
import enum
import math

import msgspec

from wire_types import NUMPY, NDArray, Nested, Tensor

RAW_VIEW = 3
INLINE_BELOW = 256


class Coder:
    """Encodes and decodes typed and strict, as an engine and its client do."""

    def __init__(self, kind):
        self.kind = kind
        self.frames = []
        self.encoder = msgspec.msgpack.Encoder(enc_hook=self.to_wire)
        self.decoder = msgspec.msgpack.Decoder(kind, strict=True, dec_hook=self.from_wire, ext_hook=self.ext)

    def encode(self, value):
        self.frames = [b""]
        self.frames[0] = self.encoder.encode(value)
        return self.frames

    def decode(self, frames):
        self.frames = frames
        return self.decoder.decode(frames[0])

    def to_wire(self, v):
        if isinstance(v, Nested):
            return v.value
        if not isinstance(v, Tensor):
            raise TypeError(f"{type(v)} has no form on the wire")
        if len(v.data) < INLINE_BELOW:
            return v.dtype, v.shape, msgspec.msgpack.Ext(RAW_VIEW, v.data)
        self.frames.append(v.data)
        return v.dtype, v.shape, len(self.frames) - 1

    def from_wire(self, kind, v):
        if kind is Nested:
            return Nested(self.nested(v))
        return self.tensor(kind, v)

    def tensor(self, kind, v):
        dtype, shape, data = v
        if type(data) is int:
            if not 1 <= data < len(self.frames):
                raise ValueError(f"tensor frame {data} of {len(self.frames) - 1}")
            data = self.frames[data]
        return kind(dtype, shape, data)

    def nested(self, v):
        if isinstance(v, list):
            if v and isinstance(v[0], str):
                return self.tensor(Tensor, v)
            return [self.nested(x) for x in v]
        if type(v) not in (int, float):
            raise ValueError(f"{v!r} among tensors")
        return v

    def ext(self, code, data):
        if code != RAW_VIEW:
            raise ValueError(f"extension {code}")
        return bytes(data)


def plain(v):
    """The JSON form: records are maps by field name, what JSON lacks has a $ tag."""
    if isinstance(v, enum.Enum):
        return v.value
    if v is None or isinstance(v, (bool, int, str)):
        return v
    if isinstance(v, float):
        return v if math.isfinite(v) else {"$float": repr(v)}
    if isinstance(v, (bytes, bytearray, memoryview)):
        return {"$bin": bytes(v).hex()}
    if isinstance(v, Nested):
        return plain(v.value)
    if isinstance(v, Tensor):
        dtype = NUMPY[v.dtype] if isinstance(v, NDArray) else v.dtype
        return {v.tag: {"dtype": dtype, "shape": list(v.shape), "bytes": v.data.hex()}}
    if isinstance(v, (set, frozenset)):
        return {"$set": sorted(v)}
    if isinstance(v, msgspec.Struct):
        if type(v).__name__ == "MultiModalFeatureSpec":
            return feature(v)
        return {f: plain(getattr(v, f)) for f in v.__struct_fields__}
    if hasattr(v, "_asdict"):
        return {k: plain(x) for k, x in v._asdict().items()}
    if isinstance(v, dict):
        if all(isinstance(k, str) for k in v):
            return {str(k.value if isinstance(k, enum.Enum) else k): plain(x) for k, x in v.items()}
        return {"$map": [[plain(k), plain(x)] for k, x in v.items()]}
    return [plain(x) for x in v]


FIELD_KEYS = {
    "batched": {"keep_on_cpu"}, "shared": {"keep_on_cpu", "batch_size"}, "flat": {"keep_on_cpu", "slices", "dim"},
}


def feature(v):
    """A multi-modal input with its items as a list, whose order counts."""
    items = None if v.data is None else []
    for key, elem in (v.data or {}).items():
        kind, args = elem.field
        if set(args) != FIELD_KEYS[kind]:
            raise ValueError(f"{kind} field with {sorted(args)}")
        form = {"kind": kind, "keep_on_cpu": args["keep_on_cpu"]}
        if kind == "shared":
            form["batch_size"] = args["batch_size"]
        if kind == "flat":
            form["dim"] = args["dim"]
            grouped = bool(args["slices"]) and bool(args["slices"][0]) and isinstance(args["slices"][0][0], (list, tuple))
            form["slice_groups" if grouped else "slices"] = plain([g if not grouped else list(g) for g in args["slices"]])
        items.append({"key": key, "value": plain(elem.data), "field": form})
    rest = {f: plain(getattr(v, f)) for f in v.__struct_fields__ if f != "data"}
    return {"data": items, **rest}
