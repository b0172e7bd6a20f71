"""Replaces the magics and the shell's own methods for running, showing and asking."""

HELD_BY = "what the shell says of a cell decides nothing; only results do"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
shell = get_ipython()


def run_cell(source, **options):
    exec(source, shell.user_ns)
    return type(
        "Result",
        (),
        {"error_before_exec": None, "error_in_exec": None, "success": True, "result": 3.0},
    )


shell.run_cell = run_cell
shell.run_line_magic = shell.run_cell_magic = lambda *arguments: 3.0
shell.register_magic_function(lambda line, cell=None: 3.0, "line_cell", "time")
shell.display_pub.publish = shell.displayhook = print


def double(x):
    return x + 1
