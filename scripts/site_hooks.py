"""Hooks of mkdocs.yml: documents outside of docs/ are pages of the site too, links lead to the pages that the files have become, and strokes
in cells of tables are shown as GitHub shows them."""
# SPDX-License-Identifier: BSD-3-Clause
import html
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

TOP = pathlib.Path(__file__).resolve().parents[1]
MORE = ["*.md", "studies/*.md", "studies/*/*.md", "bench/*/*.md", "traces/*.md", "python/*.md", "examples/*.md"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")

ROW = re.compile(r"^\|.*\\\|.*$", re.M)
CODE = re.compile(r"`([^`]+)`")


def whole(code):
    """Code in a row: the backslash before a stroke, which GitHub takes away, stays in Python's Markdown."""
    return f"<code>{html.escape(code[1].replace(chr(92) + '|', '|')).replace('|', '&#124;')}</code>" if "\\|" in code[1] else code[0]


def uri(path):
    """The place in the site of a file of the tree."""
    return path.relative_to(TOP).as_posix().removeprefix("docs/")


def on_files(files, config):
    for path in (path for pattern in MORE for path in sorted(TOP.glob(pattern))):
        files.append(File.generated(config, uri(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    def led(link):
        picture, text, target, part = link.groups()
        if "://" in target:
            return link[0]
        path = (pathlib.Path(page.file.abs_src_path).parent / target).resolve()
        path = path / "README.md" if path.is_dir() else path
        if not path.is_relative_to(TOP) or not files.get_file_from_path(uri(path)):
            return text  # a source file: it has no page
        return f"{picture}[{text}]({posixpath.relpath(uri(path), posixpath.dirname(page.file.src_uri))}{part or ''})"
    return ROW.sub(lambda row: CODE.sub(whole, row[0]), LINK.sub(led, markdown))
