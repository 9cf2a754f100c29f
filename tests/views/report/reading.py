"""Writing a report and reading its sections."""

import re

from headatlas.views.report.report import write_report


def report(atlas, **more) -> str:
    path = write_report(atlas, **more)
    assert path == atlas.path / "report.md"
    return path.read_text()


def section(text: str, title: str, level: int = 2) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    rest = text.split(f"\n{'#' * level} {title}\n", 1)[1]
    return re.split(rf"\n#{{1,{level}}} ", rest, maxsplit=1)[0]


def test_section(text: str, name: str, method: str) -> str:
    """The section of one test of one method's maps."""
    heading = re.search(rf"^### (.* \({name}\): heads chosen by {method})$", text, re.M)[1]
    return section(text, heading, 3)


test_section.__test__ = False
