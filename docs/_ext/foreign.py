"""What in a page makes a browser ask another server; links that a reader follows are not of it."""

import re

FOREIGN = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"'](?:https?:)?//[^>]*"
    r"|<link\b[^>]*\bhref=[\"'](?:https?:)?//[^>]*"
    r"|url\([\"']?(?:https?:)?//[^)]*|@import\s+[\"'](?:https?:)?//[^;]*"
)
FOUND = (
    '<script async src="https://cdn.example/search.js"></script>',
    "<img alt='a' src='//img.example/a.png'>",
    '<link rel="stylesheet" href="https://fonts.example/css">',
    "src: url(https://fonts.example/a.woff2)",
    '@import "//fonts.example/css";',
)
PASSED = (
    '<a href="https://example.org/">a link</a>',
    '<script src="_static/search.js"></script>',
    '<link rel="stylesheet" href="_static/a.css">',
    "background: url(_static/a.svg)",
    "url(data:image/svg+xml;charset=utf-8,a)",
)
