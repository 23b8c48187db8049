"""The way to a Ray cluster: its head's address, or a cluster on this machine alone."""

import os
import signal
import socket
import threading
from typing import Any, cast

from evalui.errors import ModelError, Unreachable

_CONNECT_TIMEOUT_S = 5.0
_RETRIES_VARIABLE = "RAY_NUM_REDIS_GET_RETRIES"


def connect(address: str) -> Any:
    """The ray module, connected to the cluster at `address`; "" starts one on this machine.

    Raises:
        ModelError: ray is not installed, or the address is none.
        Unreachable: nobody answers at the address, or no longer.
    """
    ray = _import_ray()
    if ray.is_initialized():
        _disconnect_if_gone(ray)
        return ray
    if address:
        _check_reachable(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            # Left out, Ray would join whatever cluster a folder open to everybody names.
            address=address or "local",
            **({} if address else {"include_dashboard": False}),
            log_to_driver=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise _unreachable_error(address or "127.0.0.1", error) from error
    finally:
        # Ray puts its own in place, which ends the process before the run is given back.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    return ray


def _import_ray() -> Any:
    # Told on import only. By itself it tries a head that turns it away, because of its token, for
    # several minutes, and cannot be stopped.
    tries = os.environ.get(_RETRIES_VARIABLE)
    os.environ[_RETRIES_VARIABLE] = tries or "1"
    try:
        import ray
    except ImportError as error:
        raise ModelError(
            "no-ray",
        ) from error
    finally:
        if not tries:
            del os.environ[_RETRIES_VARIABLE]  # actors read it, too
    return cast(Any, ray)  # typed only in part


def _disconnect_if_gone(ray: Any) -> None:
    """Ray would keep whoever asks it waiting for a head that is gone, and end this process after
    a minute.
    """
    try:
        _check_reachable(ray.get_runtime_context().gcs_address)
    except Unreachable:
        ray.shutdown()
        raise


def _check_reachable(address: str) -> None:
    """Ray itself would try for ten minutes, and could not be stopped."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ModelError("ray-address", address=address)
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError) as error:
        raise _unreachable_error(address, error) from error


def _unreachable_error(address: str, error: Exception) -> Unreachable:
    return Unreachable(
        "no-cluster",
        address=address,
        reason=str(error).partition("\n")[0].rstrip("."),
    )
