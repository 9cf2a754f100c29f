"""The page of an atlas: one file to look at, without any network."""

from headatlas.views.page.page import write_page

__all__ = ["write_page"]
