"""A simulation that is followed while it writes: frames by gsd.fl, flushed now and then.

    gsd_follow.py FILE FRAMES FLUSH

Frame i has a chunk "step" (u8: i), "values" (f4: i % 7 + 1 rows of 3, i + 0, 1, 2, …) and, if i is a multiple of 5, one of a
name of its own. Every FLUSH frames a line tells how many are in the file, and a line is waited for in answer to it.
"""

import sys

import gsd.fl
import numpy as np


def main(path: str, frames: int, flush: int) -> None:
    with gsd.fl.open(path, "w", application="run", schema="none", schema_version=(1, 0)) as file:
        for at in range(frames):
            file.write_chunk("step", np.array([at], dtype=np.uint64))
            rows = at % 7 + 1
            file.write_chunk("values", (np.arange(rows * 3, dtype=np.float32) + at).reshape(rows, 3))
            if at % 5 == 0:
                file.write_chunk(f"log/of/frame/{at}", np.array([at], dtype=np.float64))
            file.end_frame()
            if (at + 1) % flush == 0:
                file.flush()
                # Half of the flushes go on at once, so that some are looked at in their course.
                if (at + 1) // flush % 2 == 0:
                    print(at + 1, flush=True)
                    sys.stdin.readline()
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
