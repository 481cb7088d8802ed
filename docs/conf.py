"""How the site is built: `make docs`. No page asks for anything from another server."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "crmbench"
author = "The crmbench authors"
copyright = author  # noqa: A001  -- the name that Sphinx reads
version = release = installed("crmbench")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "reference",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
exclude_patterns = ["_ext"]
# Docstrings quote code between single marks.
default_role = "code"
smartquotes = False
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "crmbench"
html_static_path = ["_static"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db8dd", "color-brand-content": "#7db8dd"},
}
