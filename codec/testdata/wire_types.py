# SPDX-License-Identifier: Apache-2.0
"""The wire structs of any vLLM release as msgspec types, built from layouts.json.

What layouts.json does not list (records that hardly changed) is written out here
in the form of 0.32.0. Tensors need neither torch nor numpy: they are classes of
their own that hold dtype, shape and bytes.
"""
import enum
import json
import math
import types
from collections import namedtuple
from typing import Annotated, Any, Literal, Mapping, Optional, Sequence, Union

import msgspec

TORCH = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint16": 2, "uint32": 4, "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1,
}
NUMPY = {
    "|b1": "bool", "|u1": "uint8", "|i1": "int8", "<i2": "int16", "<i4": "int32", "<i8": "int64", "<u2": "uint16",
    "<u4": "uint32", "<u8": "uint64", "<f2": "float16", "<f4": "float32", "<f8": "float64",
}


class Tensor:
    """A torch tensor: dtype is torch's name, data its bytes."""

    tag = "$tensor"
    sizes = TORCH

    def __init__(self, dtype, shape, data):
        if not isinstance(dtype, str) or dtype not in self.sizes:
            raise ValueError(f"{self.tag}: unknown dtype {dtype!r}")
        if not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"{self.tag}: shape {shape!r}")
        if len(data) != math.prod(shape) * self.sizes[dtype]:
            raise ValueError(f"{self.tag}: {len(data)} bytes for {dtype} {shape}")
        self.dtype, self.shape, self.data = dtype, tuple(shape), bytes(data)


class NDArray(Tensor):
    """A numpy array: dtype is numpy's name with the byte order."""

    tag = "$ndarray"
    sizes = {k: TORCH[v] for k, v in NUMPY.items()}


class Nested:
    """Tensors, numbers and lists of them, as processors of images give them."""

    def __init__(self, value):
        self.value = value


class RequestOutputKind(enum.IntEnum):
    CUMULATIVE, DELTA, FINAL_ONLY = range(3)


class EngineCoreEventType(enum.IntEnum):
    QUEUED, SCHEDULED, PREEMPTED = range(1, 4)


class CacheHitSource(str, enum.Enum):
    DEVICE, HOST, P2P, DISK, OTHER = "device", "host", "p2p", "disk", "external_unspecified"


# name -> (array or map, fields as in layouts.json)
UNLISTED = {
    "UtilityResult": ("array", [("type_info", "None", None), ("result", "Any", None)]),
    "LateInteractionParams": ("array", [("mode", "str", None), ("query_key", "str", None), ("query_uses", "int | None", "None")]),
    "LateChunkingParams": ("array", [("chunk_size", "int", None)]),
    "SamplingMaskLists": ("tuple", [
        ("token_ids", "np.ndarray", None), ("offsets", "np.ndarray | None", "None"), ("cu_num_generated_tokens", "list[int] | None", "None")]),
    "KvHintsEnvelope": ("map", [("protocol_version", "str", None), ("message_id", "str", None), ("actions", "list[KvHintsAction]", None)]),
    "KvHintsAction": ("map", [
        ("action_id", "str", None), ("action_type", "str", None), ("action_version", "str", None), ("payload", "dict[str, Any]", None)]),
    "MultiModalFeatureSpec": ("map", [
        ("data", "dict[str, MultiModalFieldElem] | None", None), ("modality", "str", None), ("identifier", "str", None),
        ("mm_position", "PlaceholderRange", None), ("mm_hash", "str | None", "None")]),
    "MultiModalFieldElem": ("map", [("data", "Nested | None", None), ("field", "tuple[Literal['batched', 'shared', 'flat'], dict]", None)]),
    "PlaceholderRange": ("map", [("offset", "int", None), ("length", "int", None), ("is_embed", "torch.Tensor | None", "None")]),
    "RequestError": ("map", [("code", "str", None), ("message", "str", None), ("retryable", "bool", None)]),
    "RequestSpecDecodeMetrics": ("map", [
        ("num_spec_tokens", "int", None), ("histogram", "list[int]", None), ("num_draft_tokens", "int", "0"),
        ("per_step_accepted", "list[int] | None", "None"), ("per_step_drafted", "list[int] | None", "None")]),
    "SchedulerIterationDetails": ("map", [
        ("iteration_index", "int", None), ("num_ctx_requests", "int", None), ("num_ctx_tokens", "int", None),
        ("num_generation_requests", "int", None), ("num_generation_tokens", "int", None), ("elapsed_ms", "float", None),
        ("num_encoder_inputs", "int", "0"), ("num_encoder_output_tokens", "int", "0"), ("is_dummy", "bool", "False")]),
    "KVCacheEvictionEvent": ("map", [
        ("lifetime_seconds", "float", None), ("idle_seconds", "float", None), ("reuse_gaps_seconds", "list[float]", None)]),
    "SpecDecodingStats": ("map", [
        ("num_spec_tokens", "int", None), ("num_drafts", "int", "0"), ("num_draft_tokens", "int", "0"),
        ("num_accepted_tokens", "int", "0"), ("num_accepted_tokens_per_pos", "list[int]", "[]"),
        ("num_draft_tokens_per_pos", "list[int]", "[]")]),
    "CUDAGraphStat": ("map", [
        ("num_unpadded_tokens", "int", None), ("num_padded_tokens", "int", None), ("num_paddings", "int", None),
        ("runtime_mode", "str", None)]),
    "PerfStats": ("map", [
        ("num_flops_per_gpu", "int", "0"), ("num_read_bytes_per_gpu", "int", "0"), ("num_write_bytes_per_gpu", "int", "0"),
        ("debug_stats", "dict[str, Any] | None", "None")]),
    "KVEventsConfig": ("map", [
        ("enable_kv_cache_events", "bool", "False"), ("publisher", "str", "''"), ("endpoint", "str", "''"),
        ("replay_endpoint", "str | None", "None"), ("buffer_steps", "int", "0"), ("hwm", "int", "0"),
        ("max_queue_size", "int", "0"), ("topic", "str", "''")]),
    "EngineZmqAddresses": ("map", [
        ("inputs", "list[str]", None), ("outputs", "list[str]", None), ("coordinator_input", "str | None", "None"),
        ("coordinator_output", "str | None", "None"), ("frontend_stats_publish_address", "str | None", "None")]),
    "EngineHandshakeMetadata": ("map", [("addresses", "EngineZmqAddresses", None), ("parallel_config", "dict[str, int | str | list[int]]", None)]),
}
TASKS = "embed", "classify", "token_embed", "token_classify", "plugin", "embed&token_classify", "score", "encode"


def parsed(release):
    return tuple(int(n) for n in release.split("."))


class Release(dict):
    """The types of one release by name; each is built when first asked for."""

    def __init__(self, layouts, release):
        super().__init__(
            Annotated=Annotated, Any=Any, Literal=Literal, Mapping=Mapping, Optional=Optional, Sequence=Sequence, Union=Union,
            msgspec=msgspec, field=field, np=types.SimpleNamespace(ndarray=NDArray), torch=types.SimpleNamespace(Tensor=Tensor),
            GetPydanticSchema=lambda _: None, Nested=Nested, RequestOutputKind=RequestOutputKind,
            EngineCoreEventType=EngineCoreEventType, CacheHitSource=CacheHitSource, PoolingTask=Literal[TASKS],
            MultiModalKwargs=Any, MultiModalKwargsItem=Any,
        )
        self.layouts, self.release = layouts, parsed(release)

    def entry(self, name):
        found = None
        for e in self.layouts[name]:
            if parsed(e["since"]) <= self.release:
                found = e
        return found

    def __missing__(self, name):
        if name in UNLISTED:
            kind, fields = UNLISTED[name]
            return self.build(name, kind, False, fields)
        if name not in self.layouts:
            raise KeyError(name)
        e = self.entry(name)
        if e.get("values"):
            self[name] = enum.IntEnum(name, [(k, int(v)) for k, v in e["values"]])
            return self[name]
        fields = e.get("fields") or []
        if name == "PrefixCacheStats" and self.entry("BaseCacheStats").get("fields"):
            fields = self.entry("BaseCacheStats")["fields"] + fields
        return self.build(name, e.get("layout", "map"), e.get("omit_defaults", False), fields)

    def build(self, name, kind, omit, fields):
        self[name] = None  # a struct that holds itself would end in a plain error.
        names = [f[0] for f in fields]
        kinds = [eval(f[1], {}, self) for f in fields]  # annotations of our own file.
        defaults = [eval(f[2], {}, self) for f in fields if f[2] is not None]
        if kind == "tuple":
            t = namedtuple(name, names, defaults=defaults)
            t.__annotations__ = dict(zip(names, kinds))
        else:
            rows = [(n, k) for n, k, f in zip(names, kinds, fields) if f[2] is None]
            if rows != list(zip(names, kinds))[:len(rows)]:
                raise ValueError(f"{name}: a field without default after one that has one")
            rows += list(zip(names[len(rows):], kinds[len(rows):], defaults))
            t = msgspec.defstruct(name, rows, array_like=kind == "array", omit_defaults=omit, gc=False)
        self[name] = t
        return t


def field(default=msgspec.UNSET, default_factory=msgspec.UNSET, init=True):
    """dataclasses.field in msgspec's words."""
    if default_factory is not msgspec.UNSET:
        return msgspec.field(default_factory=default_factory)
    return msgspec.field(default=default)


def read_layouts(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)["structs"]


def releases(layouts):
    """Every release at which any struct changed, the oldest first."""
    return sorted({e["since"] for entries in layouts.values() for e in entries}, key=parsed)
