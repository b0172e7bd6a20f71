"""Writes scripts, event handlers, frames, styles and addresses that run into text cells and the written answer."""

HELD_BY = "text of a student's is shown as cleaned HTML"
VERDICT = {"double": ("full", 3.0)}


def notebook(honest):
    evil = [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(2)>",
        "<svg onload=alert(3)><script>alert(3)</script></svg>",
        "[go](javascript:alert(4))",
        "[go](JaVaScRiPt&colon;alert(5))",
        "<a href='java\tscript:alert(6)'>go</a>",
        "<iframe src='https://example.org'></iframe>",
        "<form action='https://example.org'><input name=p></form>",
        "<style>* { background: url(https://example.org/x) }</style>",
        "<base href='https://example.org/'>",
        "<meta http-equiv=refresh content='0; url=https://example.org'>",
        "<link rel=stylesheet href='//example.org/x.css'>",
        "<object data='data:text/html,<script>alert(7)</script>'></object>",
        "<math><mtext><img src=x onerror=alert(8)>",
        "<noscript><p title='</noscript><img src=x onerror=alert(9)>'>",
        "<div style='background:url(//example.org)'>x</div>",
        "`<script>`</code><script>alert(10)</script>",
        "$\\href{javascript:alert(11)}{x}$",
        "<!--><script>alert(12)</script>-->",
        "</div></div></body><script>alert(13)</script>",
        "![x](https://example.org/pixel.png)",
        "<x\n\nonclick=alert(14)>",
        "<video><source onerror=alert(15)></video>",
        "&lt;script&gt;alert(16)&lt;/script&gt;",
        "<details ontoggle=alert(17) open>",
    ]
    cells = [
        {"cell_type": "markdown", "id": f"mine-{n}", "metadata": {}, "source": text}
        for n, text in enumerate(evil)
    ]
    raw = {
        "cell_type": "raw",
        "id": "raw",
        "metadata": {"raw_mimetype": "text/html"},
        "source": "\n".join(evil),
    }
    for cell in honest["cells"]:
        if cell["id"] == "why":
            cell["source"] += "\n\n" + "\n\n".join(evil)
    return honest | {"cells": [*honest["cells"][:2], *cells, raw, *honest["cells"][2:]]}
