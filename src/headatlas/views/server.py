"""Serve the page of an atlas, also while it grows: read-only, to this machine by default, and nothing but the atlas."""

from __future__ import annotations

import errno
import ipaddress
import mimetypes
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import typer
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, StreamingResponse

from headatlas.errors import HeadAtlasError
from headatlas.views.live import LivePage, offered
from headatlas.views.page.page import policy_of

READING = ("GET", "HEAD")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


def make_app(folders: Sequence[Path], host: str = "127.0.0.1", is_over: Callable[[], bool] = lambda: False) -> FastAPI:
    """The application: the page, the files it offers, news of them, and nothing else. It never runs a model.

    Streams of news end when `is_over`, which is asked twice a second: a server that waits for them could not stop.
    """
    live = LivePage(folders)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    @app.middleware("http")
    async def guard(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        if not allowed_host(request.headers.get("host", ""), host):
            response: Response = PlainTextResponse("This server answers only to its own address.", 421)
        elif request.method not in READING:
            response = PlainTextResponse("This server can only be read.", 405, {"Allow": ", ".join(READING)})
        else:
            response = await answer(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @app.api_route("/", methods=list(READING))
    def show() -> HTMLResponse:
        page = live.page()
        return HTMLResponse(page, headers={"Content-Security-Policy": f"{policy_of(page)}; frame-ancestors 'none'"})

    @app.get("/events")
    async def tell() -> StreamingResponse:
        return StreamingResponse(live.events(is_over), media_type="text/event-stream")

    @app.api_route("/atlas/{index}/{name:path}", methods=list(READING))
    def fetch(index: int, name: str) -> FileResponse:
        # The name is looked up, never joined to a folder: no path can lead anywhere else.
        path = offered(folders[index]).get(name) if 0 <= index < len(folders) else None
        if path is None:
            raise HTTPException(404, "The atlas offers no such file.")
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return FileResponse(path, media_type=kind, filename=path.name)

    return app


def allowed_host(header: str, host: str) -> bool:
    """Whether a Host header names this server.

    Another name may belong to an attacker who made it resolve to this machine (DNS rebinding). A server that listens on
    all networks accepts any numeric address, because that attack needs a name.
    """
    name = header.rsplit(":", 1)[0] if not header.endswith("]") else header
    name = name.strip("[]").lower()
    if name in {"localhost", "127.0.0.1", "::1", host.lower()}:
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_unspecified and bool(ipaddress.ip_address(name))
    return False


def listen(host: str, port: int) -> socket.socket:
    """A socket on this port, or on a free one where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (port, 0):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES) or wanted == 0:
                raise HeadAtlasError(
                    f"Cannot listen on {host}, port {wanted}: {error.strerror}. Choose another `host` or `port`."
                ) from None
    raise AssertionError("the system neither gave a free port nor refused one")


def serve(
    folders: Sequence[Path],
    host: str = "127.0.0.1",
    port: int = 8642,
    open_browser: bool = True,
) -> None:
    """Serve the page of one atlas folder, or of two side by side, until interrupted."""
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    taken = listener.getsockname()[1]
    if port not in (0, taken):
        typer.echo(f"Port {port} is in use or not allowed; {taken} is taken instead.")
    address = f"http://{shown}:{taken}/"
    typer.echo(f"{address}   (Ctrl-C to stop)")
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # it may wait for the page
    app = make_app(folders, host, lambda: server.should_exit)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
