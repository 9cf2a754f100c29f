"""The served page is that of the atlas as it is now, and whoever looks at it hears of changes."""

import http.client
import json
import re
from urllib.parse import urlsplit

import pytest

from headatlas.views.live import LivePage
from headatlas.views.page import write_page
from tests.atlases import rich_atlas
from tests.views.serving import served


def grown(folder, *methods):
    """An atlas of these methods, published."""
    atlas = rich_atlas(folder, ["A", "B"], (4, 3), methods=methods, tests=(), tested=())
    write_page([atlas])
    return atlas


def data(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def next_event(stream):
    """The name and the text of the next event; remarks are passed over."""
    fields = {}
    while True:
        line = stream.readline().decode().rstrip("\n")
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            return fields["event"], fields["data"]


def test_the_page_is_rendered_again_only_after_a_change(tmp_path):
    grown(tmp_path / "a", "attribute")
    live = LivePage([tmp_path / "a"])
    first = live.page()
    assert live.page() is first
    assert data(first)["live"] == live.stamp()
    grown(tmp_path / "a", "attribute", "gate")
    second = live.page()
    assert [method["name"] for method in data(second)["atlases"][0]["methods"]] == ["attribute", "gate"]
    assert data(second)["live"] == live.stamp() != data(first)["live"]


def test_without_an_atlas_the_page_waits_and_says_for_what(tmp_path):
    folder = tmp_path / "<b>none"
    live = LivePage([folder])
    page = live.page()
    assert "There is no atlas in" in page and "&lt;b&gt;none yet." in page and "<b>none" not in page
    assert data(page) == {"live": "none"}
    grown(folder, "attribute")
    (folder / "competence.parquet").unlink()
    assert "has no results yet: what the model can do is measured first" in live.page()
    grown(folder, "attribute")
    assert len(data(live.page())["atlases"]) == 1


def test_an_atlas_that_cannot_be_read_is_not_waited_for_in_silence(tmp_path):
    grown(tmp_path / "a", "attribute")
    (tmp_path / "a" / "run.json").write_text('{"schema_version": 99}')
    assert "has schema version 99; this headatlas reads version 2" in LivePage([tmp_path / "a"]).page()


def test_changes_are_told_to_those_who_listen(tmp_path):
    atlas = grown(tmp_path / "a", "attribute")
    live = LivePage([atlas.path])
    with served([atlas.path]) as address:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-store" and "sandbox" in answer.headers["content-security-policy"]
        before = live.stamp()
        assert next_event(answer) == ("atlas", before)
        grown(atlas.path, "attribute", "gate")
        assert next_event(answer) == ("atlas", live.stamp()) != ("atlas", before)
        connection.close()


@pytest.mark.parametrize(
    ("method", "host", "status"), [("POST", "127.0.0.1", 405), ("GET", "evil.example", 421), ("HEAD", "127.0.0.1", 405)]
)
def test_news_are_only_read_and_only_at_the_servers_own_address(tmp_path, method, host, status):
    with served([tmp_path / "none"]) as address:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        connection.request(method, "/events", headers={"Host": host})
        assert connection.getresponse().status == status
        connection.close()


def test_a_served_page_may_ask_its_server_and_a_file_nobody(tmp_path):
    atlas = grown(tmp_path / "a", "attribute")
    file = (atlas.path / "report.html").read_text()
    assert data(file)["live"] == "" and "connect-src" not in file
    served_page = LivePage([atlas.path]).page()
    assert "connect-src 'self'" in served_page.split("<title>")[0]
