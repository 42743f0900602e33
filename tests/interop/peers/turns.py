"""What the contenders in Python share: they do what standard input says, a line each, and answer each with a line.

A line is a command and its arguments, separated by tabs. A command is a function that takes them as text and gives fields: seconds and
a check, most of them, or a text alone. The answer is "ok" and the fields ("-" for None), or "error", its type and its text.
"""

import gc
import sys


def serve(commands, collect=False):
    """Answers until standard input ends. With `collect`, garbage is collected between the commands and not within them."""
    if collect:
        gc.disable()
    for line in sys.stdin:
        command, *arguments = line.rstrip("\n").split("\t")
        try:
            fields = commands[command](*arguments)
            fields = [fields] if isinstance(fields, str) else fields
            answer = ["ok", *("-" if field is None else str(field) for field in fields)]
            # What it held is gone before the next one starts.
            del fields
        except Exception as error:
            answer = ["error", type(error).__name__, " ".join(str(error).split())]
        print("\t".join(answer), flush=True)
        if collect:
            gc.collect()
