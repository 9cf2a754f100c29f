"""A real server in a thread, for as long as a test needs it."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from headatlas.views.server import listen, make_app


@contextmanager
def served(folders: Sequence[Path]) -> Iterator[str]:
    """The address of a server of these atlas folders."""
    listener = listen("127.0.0.1", 0)
    app = make_app(folders, is_over=lambda: server.should_exit)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "a server that cannot be stopped"
