"""The server gives away the atlas it was given, to its own address, and nothing else."""

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from fastapi.testclient import TestClient

from headatlas.errors import HeadAtlasError
from headatlas.views.server import allowed_host, listen, make_app
from tests.atlases import rich_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    (folder / "secret.txt").write_text("secret")
    atlas = rich_atlas(folder / "atlas", shape=(6, 4))
    (atlas.path / "figures").mkdir()
    (atlas.path / "figures" / "importance.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (atlas.path / "cells").mkdir()
    (atlas.path / "cells" / "a.safetensors").write_bytes(b"x")
    (atlas.path / "figures" / "escape.png").symlink_to(folder / "secret.txt")
    return atlas


@pytest.fixture(scope="module")
def client(atlas):
    return TestClient(make_app([atlas.path]), base_url="http://127.0.0.1:8642", follow_redirects=False)


def test_the_page_and_its_headers(client):
    answer = client.get("/")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    for name in ("x-content-type-options", "x-frame-options", "referrer-policy", "cross-origin-resource-policy"):
        assert name in answer.headers
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert client.head("/").status_code == 200 and client.head("/").text == ""


def test_files_of_the_atlas(client, atlas):
    answer = client.get("/atlas/0/scores.parquet")
    assert answer.content == (atlas.path / "scores.parquet").read_bytes()
    assert "attachment" in answer.headers["content-disposition"]
    figure = client.get("/atlas/0/figures/importance.svg")
    assert figure.status_code == 200 and "sandbox" in figure.headers["content-security-policy"]
    data = re.search(r'id="data">(.*?)</script>', client.get("/").text, re.S)[1]
    assert "figures/importance.svg" in json.loads(data)["atlases"][0]["files"]


@pytest.mark.parametrize(
    "path",
    [
        "/atlas/0/../secret.txt", "/atlas/0/%2e%2e/secret.txt", "/atlas/0/..%2fsecret.txt", "/atlas/0/%2fetc%2fpasswd",
        "/atlas/0//etc/passwd", "/atlas/0/figures/../../secret.txt", "/atlas/0/figures/escape.png", "/atlas/0/",
        "/atlas/0/cells/a.safetensors", "/atlas/0/.lock", "/atlas/1/scores.parquet", "/atlas/-1/scores.parquet",
        "/atlas/0/scores.parquet%00.png", "/atlas/0/figures/..%5c..%5csecret.txt", "/docs", "/openapi.json",
        "/secret.txt",
    ],
)  # fmt: skip
def test_nothing_else(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 405)
    assert "secret" not in answer.text and "root:" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading(client, method):
    answer = client.request(method, "/")
    assert answer.status_code == 405 and answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "192.168.0.7"])
def test_foreign_hosts_are_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421 and "data" not in answer.text


def test_a_thousand_requests_at_once(atlas):
    """Of every kind, each answered as if it were alone."""
    kinds = [
        ("GET", "/atlas/0/run.json", "127.0.0.1:8642", 200),
        ("GET", "/atlas/0/" + "a/" * 20_000, "127.0.0.1:8642", 404),
        ("GET", "/atlas/0/../../secret.txt", "127.0.0.1:8642", 404),
        ("DELETE", "/atlas/0/run.json", "127.0.0.1:8642", 405),
        ("GET", "/", "evil.example", 421),
    ]
    expected = (atlas.path / "run.json").read_bytes()

    async def ask():
        transport = httpx.ASGITransport(make_app([atlas.path]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8642") as client:
            calls = [client.request(method, path, headers={"host": host}) for method, path, host, _ in kinds * 200]
            return await asyncio.gather(*calls)

    with ThreadPoolExecutor(1) as pool:  # tests of pages may have left a running event loop in this thread
        answers = pool.submit(asyncio.run, ask()).result()
    for (method, path, _, code), answer in zip(kinds * 200, answers, strict=True):
        assert answer.status_code == code, (method, path[:40])
        assert code != 200 or answer.content == expected
        assert b"secret" not in answer.content


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:99", "localhost:8642", "LOCALHOST", "[::1]:8642"])
def test_own_hosts_are_answered(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


def test_on_all_networks_addresses_are_allowed_but_no_names():
    assert allowed_host("192.168.0.7:8642", "0.0.0.0") and not allowed_host("evil.example:8642", "0.0.0.0")
    assert allowed_host("lab.local:80", "lab.local")


def test_a_taken_port_gives_a_free_one():
    with listen("127.0.0.1", 0) as first:
        taken = first.getsockname()[1]
        with listen("127.0.0.1", taken) as second:
            assert second.getsockname()[1] not in (0, taken)


def test_the_command_serves_until_interrupted(atlas):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "headatlas", "serve", str(atlas.path), "--no-open", "--port", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        try:
            assert process.stdout.readline().startswith(f"Port {port} is in use or not allowed; ")
            address = process.stdout.readline().split()[0]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address) and f":{port}/" not in address
            with urllib.request.urlopen(address, timeout=30) as answer:
                assert b"headatlas" in answer.read(3000)
            raw = http.client.HTTPConnection(address.split("/")[2], timeout=30)
            raw.request("GET", "/atlas/0/../../secret.txt")  # as it is, where other clients tidy the path up first
            assert raw.getresponse().status == 404
            raw.close()
        finally:
            process.send_signal(signal.SIGINT)
            code = process.wait(30)
            process.stdout.close()
    assert code == 0


def test_an_address_that_is_not_ours_names_the_parameters():
    with pytest.raises(
        HeadAtlasError, match=r"Cannot listen on 192.0.2.1, port 80: .* Choose another `host` or `port`."
    ):
        listen("192.0.2.1", 80)


def test_a_folder_in_which_a_map_has_just_begun_is_waited_for(tmp_path, monkeypatch):
    from headatlas.cli import serve as command
    from headatlas.views import server

    served, said = [], []
    monkeypatch.setattr(server, "serve", lambda folders, *_, **__: served.append(folders))
    monkeypatch.setattr(command.typer, "echo", said.append)
    for name in ("work", "cells", "slurm-jobs"):
        (tmp_path / "a" / name).mkdir(parents=True)
    command.run(tmp_path / "a")
    assert served == [[tmp_path / "a"]] and "the page waits for it" in said[0]
    (tmp_path / "a" / "other.txt").touch()
    with pytest.raises(HeadAtlasError, match="is not an atlas"):
        command.run(tmp_path / "a")
    with pytest.raises(HeadAtlasError, match=r"other.txt is a file; give the folder of an atlas\."):
        command.run(tmp_path / "a" / "other.txt")


def test_a_browser_that_waits_for_the_page_gets_it(tmp_path, monkeypatch):
    from headatlas.views import server

    answered = threading.Event()

    def open_and_wait(address):
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200
        answered.set()

    monkeypatch.setattr(server.webbrowser, "open", open_and_wait)
    monkeypatch.setattr(server.uvicorn.Server, "install_signal_handlers", lambda _: None, raising=False)
    running = []
    plain = server.uvicorn.Server.run
    monkeypatch.setattr(
        server.uvicorn.Server, "run", lambda self, sockets: (running.append(self), plain(self, sockets))[1]
    )
    thread = threading.Thread(target=server.serve, args=([tmp_path],), kwargs={"port": 0}, daemon=True)
    thread.start()
    assert answered.wait(60)
    running[0].should_exit = True
    thread.join(30)
    assert not thread.is_alive()
