# SPDX-License-Identifier: Apache-2.0
"""Random values of the wire types, led by the types alone."""
import random
from msgspec import inspect

from wire_types import NUMPY, TORCH, NDArray, Nested, RequestOutputKind, Tensor

# Numbers that another rule than the type's holds for.
SAMPLED = {
    "n": lambda r: r.randint(2, 99),
    "max_tokens": lambda r: r.randint(17, 1 << 40),
    "call_id": lambda r: r.randint(-2, (1 << 64) - 1),
    "lora_int_id": lambda r: r.randint(1, 1 << 40),
    "type_info": lambda r: None,
    "task": lambda r: r.choice(("embed", "classify")),  # known to every release.
}


class Sampler:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def of(self, t):
        return self.value(inspect.type_info(t), "")

    def value(self, t, name):
        r = self.r
        if name in SAMPLED and not isinstance(t, inspect.UnionType):
            return SAMPLED[name](r)
        kind = type(t).__name__
        return getattr(self, kind)(t, name)

    def UnionType(self, t, name):
        return self.value(self.r.choice(t.types), name)

    def Metadata(self, t, name):
        return self.value(t.type, name)

    def NoneType(self, t, name):
        return None

    def BoolType(self, t, name):
        return self.r.random() < 0.5

    def IntType(self, t, name):
        if "token_id" in name or name == "allowed_token_ids":
            return self.r.getrandbits(self.r.choice((5, 8, 16, 31)))
        n = self.r.getrandbits(self.r.choice((1, 7, 8, 16, 33, 62)))
        return max(n, t.ge) if t.ge is not None else n if self.r.random() < 0.7 else -n

    def FloatType(self, t, name):
        return self.r.choice((0.5, 2.0, -1.25, 1e300, self.r.random(), 5e-324))

    def StrType(self, t, name):
        return "".join(self.r.choice("az09-é漢😀\"") for _ in range(self.r.choice((1, 3, 31, 32, 40, 300))))

    def AnyType(self, t, name):
        return self.anything(2)

    def anything(self, depth):
        r = self.r
        pick = r.randint(0, 8 if depth else 6)
        if pick == 7:
            return [self.anything(depth - 1) for _ in range(r.randint(0, 3))]
        if pick == 8:
            return {self.StrType(None, ""): self.anything(depth - 1) for _ in range(r.randint(0, 3))}
        return (None, True, r.getrandbits(64), -r.getrandbits(63), r.random(), "text", r.randbytes(r.randint(0, 40)))[pick]

    def EnumType(self, t, name):
        return self.r.choice(list(t.cls))

    def LiteralType(self, t, name):
        return self.r.choice(t.values)

    def ListType(self, t, name):
        n = self.r.choice((0, 1, 1, 2, 5, 17))
        return [self.value(t.item_type, name) for _ in range(n)]

    CollectionType = ListType

    def VarTupleType(self, t, name):
        return tuple(self.ListType(t, name))

    def SetType(self, t, name):
        return {self.value(t.item_type, name) for _ in range(self.r.randint(1, 4))}

    def DictType(self, t, name):
        if isinstance(t.key_type, inspect.AnyType):
            return {self.StrType(None, ""): self.anything(1) for _ in range(self.r.randint(0, 3))}
        return {self.value(t.key_type, name): self.value(t.value_type, name) for _ in range(self.r.randint(0, 3))}

    def StructType(self, t, name):
        return t.cls(**self.fields(t))

    def fields(self, t):
        if t.cls.__name__ == "MultiModalFieldElem":
            return {"data": self.nested(2), "field": self.field()}
        values = {f.name: self.value(f.type, f.name) for f in t.fields}
        self.agree(t.cls.__name__, values)
        return values

    def agree(self, name, values):
        """What engines and clients hold to beyond the types."""
        if name == "PoolingParams" and "output_kind" in values:
            values["output_kind"] = RequestOutputKind.FINAL_ONLY
        if name == "PoolingParams":  # four names of one thing.
            same = self.r.choice((None, True, False))
            values.update({k: same for k in ("use_activation", "normalize", "activation", "softmax") if k in values})
        for old in ("mm_inputs", "mm_kwargs", "mm_hashes", "mm_placeholders"):
            if old in values:  # inputs of before 0.10.2 are refused by name.
                values[old] = None
        if name == "UtilityOutput" and values["failure_message"] is not None:
            values["result"] = None
        if name == "EngineCoreOutputs" and values["utility_output"] is not None:
            values["outputs"] = []  # an answer travels alone.

    def NamedTupleType(self, t, name):
        if not t.cls.__name__.startswith("Logprobs"):
            return t.cls(**self.fields(t))
        rows, columns = self.r.randint(0, 4), self.r.choice((1, 2, 21))
        arrays = []
        for f, shape in zip(t.fields[:3], ((rows, columns), (rows, columns), (rows,))):
            floats = f.name == "logprobs"
            if isinstance(f.type, inspect.CustomType):
                arrays.append(self.tensor(f.type.cls, shape, "float32" if floats else self.r.choice(("int32", "int64"))))
            else:
                number = self.r.random if floats else lambda: self.r.getrandbits(17)
                arrays.append([[number() for _ in range(columns)] for _ in range(rows)] if len(shape) == 2 else [number() for _ in range(rows)])
        return t.cls(*arrays, *(self.value(f.type, f.name) for f in t.fields[3:]))

    def CustomType(self, t, name):
        if t.cls is Nested:
            return Nested(self.nested(2))
        floats = "logprobs" in name or "embed" in name or "pooling" in name
        dtype = "bool" if name == "is_embed" else self.r.choice(("float32", "float16") if floats else ("int32", "int64"))
        dims = 2 if name in ("prompt_embeds", "prompt_logprob_token_ids", "prompt_token_id_logprobs") else self.r.randint(1, 3)
        return self.tensor(t.cls, tuple(self.r.randint(0, 9) for _ in range(dims)), dtype)

    def tensor(self, cls, shape, dtype):
        size = TORCH[dtype]
        for n in shape:
            size *= n
        if cls is NDArray:
            dtype = next(k for k, v in NUMPY.items() if v == dtype)
        return cls(dtype, shape, self.r.randbytes(size))

    def nested(self, depth):
        pick = self.r.randint(0, 3 if depth else 2)
        if pick == 3:
            return Nested([self.nested(depth - 1).value for _ in range(self.r.randint(0, 3))])
        return Nested((self.tensor(Tensor, (self.r.randint(0, 99),), "float32"), self.r.getrandbits(40), self.r.random())[pick])

    def field(self):
        kind = self.r.choice(("batched", "shared", "flat"))
        args = {"keep_on_cpu": self.r.random() < 0.5}
        if kind == "shared":
            args["batch_size"] = self.r.randint(0, 9)
        if kind == "flat":
            one = lambda: [self.r.choice((None, 0, 7)), self.r.choice((None, 300)), None]
            grouped = self.r.random() < 0.5
            args["slices"] = [[one(), one()] if grouped else one() for _ in range(self.r.randint(0, 3))]
            args["dim"] = self.r.randint(0, 3)
        return kind, args
