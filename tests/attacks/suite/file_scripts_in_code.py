"""Writes HTML that closes the page's own into code, comments and the line that raises an error."""

HELD_BY = "code is shown escaped"
VERDICT = {"double": ("error", 0.0), "digits": ("error", 0.0)}


# %% double
# </pre></code></div><script>alert(1)</script>
def double(x):
    raise ValueError  # </p><script>alert(2)</script><img src=x onerror=alert(3)>


# %% digits
raise SystemError  # "><script>alert(4)</script>

digits = None
