"""Kernels that are forked from this process, which has imported what they need: none starts another interpreter.

jupyter_client asks a provisioner for the process of a kernel. `use` names the one here, on Linux; elsewhere that of
jupyter_client stays, which starts each kernel from nothing.
"""

import asyncio
import gc
import importlib
import multiprocessing
import os
import signal
import sys
from importlib.metadata import EntryPoint

import matplotlib as mpl
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from study import reading

NAME = "forked"
INLINE = "module://matplotlib_inline.backend_inline"
"""Where Matplotlib draws in a kernel."""
READ = set()
"""What was read of the project when the modules were imported: a kernel that is forked has read it."""


def use(modules):
    """Import modules, by their names, and let every kernel that this process starts from now on be forked from it."""
    if sys.platform != "linux":
        return
    for module in modules:
        importlib.import_module(module)
    READ.update(reading.READ)
    gc.freeze()
    factory = KernelProvisionerFactory.instance()
    factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:{Forked.__name__}", factory.GROUP_NAME)
    factory.default_provisioner_name = NAME


class Forked(LocalProvisioner):
    """Starts a kernel of IPython by a fork, any other as a program."""

    async def launch_kernel(self, cmd, **options):
        """Start the kernel; returns how it is connected."""
        if "ipykernel_launcher" not in cmd:
            return await super().launch_kernel(cmd, **options)
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        forked = multiprocessing.get_context("fork").Process(
            target=_serve, args=(arguments, options.get("cwd") or os.getcwd(), os.getpid())
        )
        forked.start()
        self.process = _Process(forked)
        self.pid = self.pgid = forked.pid
        return self.connection_info


def _serve(arguments, folder, parent):
    """Become a kernel, without the event loop of the process that asked for it; ends with the process that started it."""
    os.setsid()
    os.chdir(folder)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    asyncio.set_event_loop(asyncio.new_event_loop())
    mpl.rcParams["backend"] = INLINE
    IPKernelApp.launch_instance(argv=[*arguments, f"--IPKernelApp.parent_handle={parent}"])


class _Process:
    """A process of multiprocessing, with the methods of one of subprocess that a provisioner calls."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self.process = process
        self.pid = process.pid
        self.kill = process.kill
        self.terminate = process.terminate

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)
