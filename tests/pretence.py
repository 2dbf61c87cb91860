"""A pretended GPU: tensors that say `cuda:0`, compute on the CPU and refuse what CUDA refuses.

Code that runs on it obeys the rules of devices, and gives the numbers of the CPU to the last
digit. On the way it counts what a GPU's time depends on: see `pretended_cuda`.

It knows nothing of a GPU's speed, its rounding, its asynchrony and its libraries (cuDNN, streams),
of other threads than the one that enters it, and of torch.compile. To C++ its tensors lie on the
CPU, which has consequences:

- An operation made of others is taken apart, and counted, as on the CPU.
- Autocast casts what it would cast on a CPU.
- Modules move by `swap_tensors`: not while a graph of a forward pass is alive.
- `inference_mode` is no more than `no_grad`, as tensors made in it cannot be wrapped.
"""

from __future__ import annotations

import functools
import os
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any, NoReturn
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
WATTS = 100

LAUNCHES = "launches"
VIEWS = "views"
SYNCHRONISATIONS = "synchronisations"
TO_DEVICE = "copies to the device"
TO_HOST = "copies to the host"

COUNTS: Counter[str] = Counter()

aten = torch.ops.aten
INDEXING = {
    aten.index.Tensor,
    aten._unsafe_index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
}
"""What takes row numbers that lie on the host."""
TAKES_SCALARS = {aten.fill_.Tensor, aten.masked_fill.Tensor, aten.masked_fill_.Tensor}
"""What takes numbers that lie on the host, besides pointwise operations."""
NO_LAUNCH = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
WAITED_FOR = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}
"""Marks of operations whose result has a size, or is a value, that the host must know."""
VIEWS_BY_ANOTHER_NAME = {"_unsafe_view", "_reshape_alias", "lift_fresh"}


@contextmanager
def pretended_cuda() -> Iterator[Counter[str]]:
    """Let this thread have one GPU, and yield what it counts from zero on.

    LAUNCHES are operations on its tensors that are no VIEWS; in SYNCHRONISATIONS the host waits
    for the device, as it does for each copy TO_HOST; TO_DEVICE are copies of host memory.
    """
    COUNTS.clear()
    with ExitStack() as stack:
        for owner, fakes in _fakes().items():
            for name, fake in fakes.items():
                stack.enter_context(patch.object(owner, name, fake))
        # `choose_device` sets these for good.
        stack.enter_context(patch.dict(os.environ))
        for name in ("deterministic", "benchmark"):
            before = getattr(torch.backends.cudnn, name)
            stack.callback(setattr, torch.backends.cudnn, name, before)
        stack.enter_context(torch.serialization.safe_globals([_loaded]))
        stack.enter_context(OnTheDevice())
        yield COUNTS


class Pretended(Tensor):
    """A tensor on the device: a shell without memory around a tensor of the CPU."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Pretended:
        shell: Pretended = Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device="cpu",
        )
        shell.held = held
        _LIVING[id(held)] = held
        return shell

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(
        cls, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        _refuse_mixtures(func, args, kwargs)
        _refuse_generator(kwargs.get("generator"), DEVICE)
        _count(*_costs(func, args))
        shells = {id(x.held): x for x in tree_leaves((args, kwargs)) if isinstance(x, cls)}
        with _randomness() if torch.Tag.nondeterministic_seeded in func.tags else ExitStack():
            result = func(*_held(args), **_held(kwargs))
        if func is aten.copy_.default and not isinstance(args[0], cls):
            return args[0]
        for shell in shells.values() if func._schema.is_mutable else ():
            held = shell.held
            if (shell.shape, shell.stride()) != (held.shape, held.stride()):
                # After `squeeze_`, or for an `out=` of another size.
                shell.data = cls(held)
        return tree_map_only(Tensor, lambda x: shells[id(x)] if id(x) in shells else cls(x), result)

    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def get_device(self) -> int:
        return DEVICE.index

    @property
    def data(self) -> Pretended:
        return Pretended(self.held.detach())

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Pretended):
            raise NotImplementedError("a tensor does not leave the device by its data here")
        with torch._C.DisableTorchFunction():
            Tensor.data.__set__(self, value)
        self.held = value.held

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        return _moved(self, *args, **kwargs)

    def cpu(self) -> Tensor:
        return _moved(self, "cpu")

    def cuda(self, device: Any = None, **kwargs: Any) -> Tensor:
        return _moved(self, device or DEVICE, **kwargs)

    def tolist(self) -> Any:
        _count(SYNCHRONISATIONS, TO_HOST)
        return self.held.tolist()

    def numpy(self, **_: Any) -> NoReturn:
        raise TypeError("can't convert cuda:0 device type tensor to numpy: use Tensor.cpu() first")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.numpy()

    def __repr__(self, **_: Any) -> str:
        return f"{self.held!r} on {DEVICE}"

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return _loaded, (self.held, self.requires_grad)


def _count(*costs: str) -> None:
    COUNTS.update(costs)


_LIVING: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
"""The memory of tensors on the device."""

_RANDOM = torch.Generator()
"""The device's own stream."""


class _Generator(torch.Generator):
    """A generator of the CPU, or one that says it is the device's."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        generator = super().__new__(cls)
        generator.place = torch.device(device)
        return generator

    device = property(lambda self: self.place)


class OnTheDevice(TorchFunctionMode):
    """Takes what makes tensors on a given device, or moves them there."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in MOVES:
            return MOVES[func](*args, **kwargs)
        if "device" in kwargs and kwargs["device"] is not None:
            return _made(func, args, kwargs)
        tensors = [x for x in tree_leaves(args) if isinstance(x, Tensor)]
        device = tensors[0].device if tensors else torch.device("cpu")
        _refuse_generator(kwargs.get("generator"), device)
        return func(*args, **kwargs)


class _Crossing(torch.autograd.Function):
    """A copy from the host to the device, or back."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        if isinstance(tensor, Pretended):
            _count(SYNCHRONISATIONS, TO_HOST)
            return tensor.held.clone()
        _count(TO_DEVICE)
        return Pretended(tensor.detach().clone())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _Crossing.apply(gradient)


def _moved(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Do what `Tensor.to` does."""
    device = kwargs.pop("device", None)
    names: tuple[str, ...] = ("dtype", "non_blocking", "copy")
    if args and isinstance(args[0], Tensor):
        device, kwargs["dtype"] = args[0].device, args[0].dtype
        args = args[1:]
        names = ("non_blocking", "copy")
    elif args and not isinstance(args[0], torch.dtype):
        device, *args = args
    kwargs.update(zip(names, args, strict=False))
    if kwargs.get("dtype", tensor.dtype) is None:
        del kwargs["dtype"]
    with torch._C.DisableTorchFunction():
        if device is not None and _is_ours(device) != isinstance(tensor, Pretended):
            tensor = _Crossing.apply(tensor)
        return Tensor.to(tensor, **kwargs) if kwargs else tensor


MOVES: dict[Callable[..., Any], Callable[..., Any]] = {
    Tensor.to: _moved,
    Tensor.cpu: lambda tensor: _moved(tensor, "cpu"),
    Tensor.cuda: lambda tensor, device=None, **kwargs: _moved(tensor, device or DEVICE, **kwargs),
}
COPIES = {torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor}


def _made(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Return what `func` makes on the device that is named, there."""
    ours = _is_ours(kwargs["device"])
    gradients = kwargs.pop("requires_grad", False)
    _refuse_generator(kwargs.get("generator"), DEVICE if ours else torch.device("cpu"))
    kwargs["device"] = "cpu"
    held_before = any(isinstance(x, Pretended) for x in tree_leaves(args))
    with torch._C.DisableTorchFunction(), _randomness() if ours else ExitStack():
        result = func(*_held(args), **_held(kwargs))
        if func in COPIES:
            if ours and not held_before:
                _count(TO_DEVICE)
                result = result.clone()
            if held_before and not ours:
                _count(SYNCHRONISATIONS, TO_HOST)
        elif ours and func.__name__ not in NO_LAUNCH:
            _count(LAUNCHES)
        return (Pretended(result) if ours else result).requires_grad_(gradients)


def _is_ours(device: Any) -> bool:
    """Say whether it is the device; raises where there is no such GPU."""
    device = torch.device(*(("cuda", device) if isinstance(device, int) else (device,)))
    if device.type == "cuda" and device.index not in (None, DEVICE.index):
        raise RuntimeError(f"CUDA error: invalid device ordinal: {device}")
    return device.type == "cuda"


def _held(values: Any) -> Any:
    return tree_map_only(Pretended, lambda x: x.held, values)


def _refuse_mixtures(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise where CUDA would, as not all tensors of an operation lie on the device."""
    if func is aten.copy_.default:
        return
    others = args
    scalars = torch.Tag.pointwise in func.tags or func in TAKES_SCALARS
    if func in INDEXING and isinstance(args[0], Pretended):
        others, scalars = args[2:], True
    host = [
        x
        for x in tree_leaves((others, kwargs))
        if isinstance(x, Tensor) and not isinstance(x, Pretended)
    ]
    if scalars:
        written = [id(x) for x in _written(func, args, kwargs)]
        host = [x for x in host if x.dim() > 0 or id(x) in written]
    if host:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, "
            f"{DEVICE} and cpu! (in {func})"
        )


def _written(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments that `func` writes to."""
    declared = func._schema.arguments
    given = {**dict(zip((a.name for a in declared), args, strict=False)), **kwargs}
    writes = [a.name for a in declared if a.alias_info is not None and a.alias_info.is_write]
    return tree_leaves([given.get(name) for name in writes])


def _refuse_generator(generator: torch.Generator | None, device: torch.device) -> None:
    if generator is not None and generator.device.type != device.type:
        raise RuntimeError(
            f"Expected a '{device.type}' device type for generator but found "
            f"'{generator.device.type}'"
        )


def _costs(func: OpOverload, args: tuple[Any, ...]) -> list[str]:
    """Return what `func` counts as."""
    name = func._schema.name.removeprefix("aten::")
    if func is aten._local_scalar_dense.default:
        return [SYNCHRONISATIONS, TO_HOST]
    if func is aten.copy_.default:
        target, source = args[:2]
        if not isinstance(target, Pretended):
            return [SYNCHRONISATIONS, TO_HOST]
        # A number that is written to a slice comes as such a tensor: CUDA fills with it.
        return [LAUNCHES if isinstance(source, Pretended) or source.dim() == 0 else TO_DEVICE]
    if func.is_view or name in VIEWS_BY_ANOTHER_NAME:
        return [VIEWS]
    if name in NO_LAUNCH:
        return []
    if func in INDEXING:
        rows = [x for x in args[1] if x is not None]
        masked = any(x.dtype in (torch.bool, torch.uint8) for x in rows)
        copies = [TO_DEVICE for x in rows if not isinstance(x, Pretended)]
        return [LAUNCHES, *copies, *([SYNCHRONISATIONS] if masked else [])]
    return [LAUNCHES, *([SYNCHRONISATIONS] if WAITED_FOR & {*func.tags} else [])]


@contextmanager
def _randomness() -> Iterator[None]:
    """Let what draws from the CPU's default stream draw from the device's."""
    stream = torch.default_generator
    before = stream.get_state()
    stream.set_state(_RANDOM.get_state())
    try:
        yield
    finally:
        _RANDOM.set_state(stream.get_state())
        stream.set_state(before)


_lands_on: list[Any] = [None]
"""Where `torch.load` is told to put what it reads."""


def _loaded(held: Tensor, gradients: bool) -> Tensor:
    """Return a tensor as it was saved."""
    where = _lands_on[-1]
    there = where is None or _is_ours(where)
    return (Pretended(held) if there else held).requires_grad_(gradients)


def _fakes() -> dict[Any, dict[str, Any]]:
    """Return what stands for torch's and NVML's functions: owner -> name -> replacement."""
    return {
        torch: {"Generator": _Generator, "load": _load_of(torch.load)},
        torch.autocast: {"__init__": _autocast_of(torch.autocast.__init__)},
        torch.inference_mode: {
            "__enter__": _enter_without_gradients,
            "__exit__": _exit_without_gradients,
        },
        torch.nn.Module: {"_apply": _apply_of(torch.nn.Module._apply)},
        torch.backends.cudnn: {"is_acceptable": lambda tensor: False},
        torch.cuda: _cuda(),
        pynvml: _nvml(),
    }


def _load_of(load: Callable[..., Any]) -> Callable[..., Any]:
    """Return `torch.load` that obeys `map_location`."""

    @functools.wraps(load)
    def load_to(file: Any, map_location: Any = None, **options: Any) -> Any:
        _lands_on.append(map_location)
        try:
            loaded = load(file, **options)
        finally:
            _lands_on.pop()
        if map_location is None:
            return loaded
        return tree_map_only(Tensor, lambda x: _moved(x, map_location), loaded)

    return load_to


def _autocast_of(initialise: Callable[..., None]) -> Callable[..., None]:
    """Return the constructor of an autocast that is the CPU's where the device's is meant."""

    @functools.wraps(initialise)
    def initialise_as_cpu(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        initialise(self, "cpu" if _is_ours(device_type) else device_type, *args, **kwargs)

    return initialise_as_cpu


def _enter_without_gradients(self: Any) -> None:
    self.before = torch.is_grad_enabled()
    torch.set_grad_enabled(self.before and not self.mode)


def _exit_without_gradients(self: Any, *_: Any) -> None:
    torch.set_grad_enabled(self.before)


def _apply_of(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Return `Module._apply` that keeps a parameter the same object, as on a GPU."""

    @functools.wraps(apply)
    def apply_by_swapping(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            return apply(self, *args, **kwargs)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(before)

    return apply_by_swapping


def _cuda() -> dict[str, Any]:
    properties = SimpleNamespace(
        name=NAME, uuid=UUID, total_memory=MEMORY_BYTES, major=9, minor=0, multi_processor_count=132
    )

    def nothing(*_: Any, **__: Any) -> None:
        pass

    def allocated(device: Any = None) -> int:
        storages = [held.untyped_storage() for held in _LIVING.values()]
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())

    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": nothing,
        "_lazy_init": nothing,
        "device_count": lambda: 1,
        "current_device": lambda: DEVICE.index,
        "set_device": nothing,
        "get_device_name": lambda device=None: NAME,
        "get_device_capability": lambda device=None: (properties.major, properties.minor),
        "get_device_properties": lambda device=None: properties,
        "is_bf16_supported": lambda including_emulation=True: True,
        "synchronize": lambda device=None: _count(SYNCHRONISATIONS),
        "empty_cache": nothing,
        "mem_get_info": lambda device=None: (MEMORY_BYTES - allocated(), MEMORY_BYTES),
        "memory_allocated": allocated,
        "max_memory_allocated": allocated,
        "reset_peak_memory_stats": nothing,
        "memory_reserved": allocated,
        "manual_seed": _RANDOM.manual_seed,
        "manual_seed_all": _RANDOM.manual_seed,
        "initial_seed": _RANDOM.initial_seed,
        "get_rng_state": lambda device=None: _RANDOM.get_state(),
        "set_rng_state": lambda state, device=None: _RANDOM.set_state(state),
    }


def _nvml() -> dict[str, Any]:
    start = time.perf_counter()
    return {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: "580.00",
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: NAME,
        "nvmlDeviceGetUUID": lambda handle: f"GPU-{UUID}",
        "nvmlDeviceGetPowerUsage": lambda handle: 1000 * WATTS,
        "nvmlDeviceGetTotalEnergyConsumption": lambda handle: int(
            1000 * WATTS * (time.perf_counter() - start)
        ),
    }
