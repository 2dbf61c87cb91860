"""A pretended GPU: tensors that say `cuda:0`, compute on the CPU and refuse what CUDA refuses.

Code that runs on it obeys the rules of devices, and gives the numbers of the CPU to the last
digit. It knows nothing of a GPU's speed, rounding, asynchrony, memory and libraries, of generators
on it, of gradients to or from it, and of torch.compile. Autocast is the CPU's, `inference_mode` is
`no_grad`, and a tensor is saved as one of the host.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pynvml
import torch
import torch._dynamo  # it lists torch's functions as it is imported, and must not list fakes
from torch import Tensor
from torch._ops import OpOverload
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

DEVICE = torch.device("cuda", 0)
NAME = "NVIDIA Pretended"
UUID = "00000000-1111-2222-3333-444444444444"
MEMORY_BYTES = 16 * 1024**3

aten = torch.ops.aten
INDEXING = {aten.index, aten.index_put, aten.index_put_, aten._unsafe_index, aten._index_put_impl_}
"""Operations that accept row numbers on the host."""
WAITED_FOR = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}
"""Marks of operations whose result has a size or value that the host must know."""

_waits: list[str] = []


@contextmanager
def pretended_cuda() -> Iterator[list[str]]:
    """Give this thread one GPU; yield a list of its waits and copies."""
    _waits.clear()
    with ExitStack() as stack:
        for owner, fakes in _fakes().items():
            stack.enter_context(patch.multiple(owner, **fakes))
        # `choose_device` changes these.
        stack.enter_context(patch.dict(os.environ))
        stack.enter_context(torch.backends.cudnn.flags(enabled=False))
        stack.enter_context(OnTheDevice())
        yield _waits


class Pretended(Tensor):
    """A tensor on the device: a shell without memory around a tensor of the CPU."""

    @staticmethod
    def __new__(cls, held: Tensor) -> Pretended:
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset()}
        shell = Tensor._make_wrapper_subclass(cls, held.size(), **layout, dtype=held.dtype)
        shell.held = held
        return shell

    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: OpOverload, types: Any, args: Any, kwargs: Any) -> Any:
        _refuse_mixtures(func, args, kwargs)
        waited = WAITED_FOR & {*func.tags}
        if func.overloadpacket in INDEXING:
            waited = torch.bool in [getattr(rows, "dtype", None) for rows in args[1]]
        if waited:
            _waits.append("synchronisation")
        shells = {id(x.held): x for x in tree_leaves((args, kwargs)) if isinstance(x, cls)}
        result = func(*_held(args), **_held(kwargs))
        if func is aten.copy_.default and not all(isinstance(x, cls) for x in args[:2]):
            _waits.append("copy")
            return args[0]
        for shell in shells.values() if func._schema.is_mutable else ():
            if shell.shape != shell.held.shape:  # after `squeeze_`
                shell.data = cls(shell.held)
        return tree_map_only(Tensor, lambda x: shells[id(x)] if id(x) in shells else cls(x), result)

    @property
    def data(self) -> Pretended:
        return Pretended(self.held.detach())

    @data.setter
    def data(self, value: Pretended) -> None:
        with torch._C.DisableTorchFunction():
            Tensor.data.__set__(self, value)
        self.held = value.held

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.held.detach().requires_grad_(self.requires_grad).__reduce_ex__(protocol)


class OnTheDevice(TorchFunctionMode):
    """Redirects functions that make tensors on a device, or move them there."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func not in MOVES and kwargs.get("device") is not None:
            return _made(func, args, kwargs)
        return MOVES.get(func, func)(*args, **kwargs)


def _moved(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """As `Tensor.to`."""
    if args and isinstance(args[0], Tensor):
        args = (args[0].device, args[0].dtype)
    device, dtype, _, layout = torch._C._nn._parse_to(*args, **kwargs)
    with torch._C.DisableTorchFunction():
        here = isinstance(tensor, Pretended)
        if device is not None and (device.type == "cuda") != here:
            _waits.append("copy")
            tensor = tensor.held.clone() if here else Pretended(tensor.detach().clone())
        how = {"memory_format": layout or torch.preserve_format}
        return Tensor.to(tensor, dtype=dtype or tensor.dtype, **how)


MOVES: dict[Callable[..., Any], Callable[..., Any]] = {
    Tensor.to: _moved,
    Tensor.cpu: lambda tensor: _moved(tensor, "cpu"),
    Tensor.cuda: lambda tensor: _moved(tensor, DEVICE),
    Tensor.tolist: lambda tensor: Tensor.tolist(_moved(tensor, "cpu")),
}


def _made(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Return the tensor that `func` makes on the named device."""
    ours = torch.device(kwargs.pop("device")).type == "cuda"
    if ours:
        _refuse_generators(kwargs)
        _waits.extend(["copy"] if func in (torch.tensor, torch.as_tensor) else [])
    with torch._C.DisableTorchFunction():
        made = func(*_held(args), **_held(kwargs), device="cpu")
        return Pretended(made.clone()) if ours else made


def _held(values: Any) -> Any:
    return tree_map_only(Pretended, lambda x: x.held, values)


def _refuse_mixtures(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise where CUDA would, if some arguments of an operation lie on the host."""
    _refuse_generators(kwargs)
    if func is aten.copy_.default:
        return
    indexing = func.overloadpacket in INDEXING and isinstance(args[0], Pretended)
    others = tree_leaves((args[2:] if indexing else args, kwargs))
    host = [x for x in others if isinstance(x, Tensor) and not isinstance(x, Pretended)]
    if indexing or torch.Tag.pointwise in func.tags or "fill" in func.name():  # take numbers
        host = [x for x in host if x.dim() > 0 or (x is args[0] and func._schema.is_mutable)]
    if host:
        raise RuntimeError(f"Expected all tensors to be on the same device: {func}")


def _refuse_generators(kwargs: dict[str, Any]) -> None:
    if kwargs.get("generator") is not None:
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")


def _fakes() -> dict[Any, dict[str, Any]]:
    """Return replacements of functions of torch and NVML: owner -> name -> function."""
    no_grad, initialise, apply = torch.no_grad, torch.autocast.__init__, torch.nn.Module._apply
    start = time.perf_counter()

    def millijoules() -> int:
        """Return the energy since the start, at 100 W."""
        return int(100_000 * (time.perf_counter() - start))

    def apply_by_swapping(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Keep a parameter the same object, as on a GPU."""
        with patch.object(torch.__future__, "_swap_module_params_on_conversion", True):
            return apply(self, *args, **kwargs)

    return {
        torch.autocast: {"__init__": lambda self, _, **options: initialise(self, "cpu", **options)},
        torch.inference_mode: {"__enter__": no_grad.__enter__, "__exit__": no_grad.__exit__},
        torch.nn.Module: {"_apply": apply_by_swapping},
        torch.cuda: {
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "device_count": lambda: 1,
            "get_device_name": lambda device=None: NAME,
            "get_device_capability": lambda device=None: (9, 0),
            "get_device_properties": lambda device=None: SimpleNamespace(uuid=UUID),
            "is_bf16_supported": lambda including_emulation=True: True,
            "empty_cache": lambda: None,
            "synchronize": lambda device=None: _waits.append("synchronisation"),
            "mem_get_info": lambda device=None: (MEMORY_BYTES, MEMORY_BYTES),
            # Its random numbers are the host's.
            "manual_seed": lambda seed: None,
            "get_rng_state": lambda device=None: None,
            "set_rng_state": lambda state, device=None: None,
        },
        pynvml: {
            "nvmlInit": lambda: None,
            "nvmlShutdown": lambda: None,
            "nvmlSystemGetDriverVersion": lambda: "580.00",
            "nvmlDeviceGetCount": lambda: 1,
            "nvmlDeviceGetHandleByIndex": lambda index: index,
            "nvmlDeviceGetName": lambda handle: NAME,
            "nvmlDeviceGetUUID": lambda handle: f"GPU-{UUID}",
            "nvmlDeviceGetTotalEnergyConsumption": lambda handle: millijoules(),
        },
    }
