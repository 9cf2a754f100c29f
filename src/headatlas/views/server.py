"""Serve the page of an atlas: read-only, to this machine by default, and nothing but the atlas that was given."""

from __future__ import annotations

import errno
import ipaddress
import mimetypes
import socket
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse

from headatlas.errors import HeadAtlasError
from headatlas.views.page.page import policy, render

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding

TABLES = ("scores", "competence", "diagnostics", "noise", "evidence")
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


def offered(atlas: Atlas) -> dict[str, Path]:
    """The files of an atlas that may be fetched, by name. Links that lead out of its folder are left out."""
    names = ["run.json", *(f"{name}.parquet" for name in TABLES), "report.md"]
    kinds = (".png", ".svg", ".pdf")
    figures = sorted(path for path in (atlas.path / "figures").glob("*") if path.suffix in kinds)
    paths = [atlas.path / name for name in names] + figures
    home = atlas.path.resolve()
    return {
        path.relative_to(atlas.path).as_posix(): path
        for path in paths
        if path.is_file() and path.resolve().is_relative_to(home)
    }


def make_app(atlases: Sequence[Atlas], findings: Sequence[Sequence[Finding]] = (), host: str = "127.0.0.1") -> FastAPI:
    """The application: the page, the files it offers, and nothing else. It never runs a model."""
    page = render(atlases, findings, downloads=[list(offered(atlas)) for atlas in atlases])
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
        return HTMLResponse(page, headers={"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'"})

    @app.api_route("/atlas/{index}/{name:path}", methods=list(READING))
    def fetch(index: int, name: str) -> FileResponse:
        # The name is looked up, never joined to a folder: no path can lead anywhere else.
        path = offered(atlases[index]).get(name) if 0 <= index < len(atlases) else None
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
    atlases: Sequence[Atlas],
    findings: Sequence[Sequence[Finding]] = (),
    host: str = "127.0.0.1",
    port: int = 8642,
    open_browser: bool = True,
) -> None:
    """Serve until interrupted. `findings` holds one list per atlas."""
    app = make_app(atlases, findings, host)
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    typer.echo(f"{address}   (Ctrl-C to stop)")
    if open_browser:
        webbrowser.open(address)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
