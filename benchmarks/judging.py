"""How long the judging pages take with many judges at once, each as fast as the answers come.

    python benchmarks/studio.py --judges 200 --seconds 60

`comdiv judge` runs in a process of its own, on this machine's loopback alone. Every judge has a link and a connection
of their own, looks at a problem, marks it, gets the next one, and so on without a pause: people take a hundred times as
long. Half of the requests write a mark to disk. The floor is the smallest page of the same server under the same load.
"""

import asyncio
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from comdiv.corpora.demo import generate
from comdiv.problem import write_problems

LIMIT = 0.5  # seconds: the 95th percentile on quiet cores
PROBLEMS = 100
MARK = b"grammar=good&fluency=good&logic=not+good&comment=fine"

Requests = Callable[[int, str], tuple[str, bytes]]  # number of the request, judge's path → path, form (empty: GET)


@dataclass(frozen=True, slots=True)
class Load:
    """The seconds of every request, and the server's processor time."""

    taken: Sequence[float]
    seconds: float
    processor: float

    def row(self, name: str) -> str:
        """One line of the table."""
        cuts = statistics.quantiles(self.taken, n=100)
        shown = " ".join(f"{1000 * cuts[place]:7.0f} ms" for place in (49, 94, 98))
        rate, busy = len(self.taken) / self.seconds, 1000 * self.processor / len(self.taken)
        return f"{name:18} {len(self.taken):8,} {rate:8.0f}/s {shown} {busy:7.2f} ms"


def entrance(number: int, judge: str) -> tuple[str, bytes]:
    """The smallest page."""
    del number, judge
    return "/", b""


def judging(number: int, judge: str) -> tuple[str, bytes]:
    """Look at a problem, mark it, look at the next one."""
    path = f"{judge}/problem/{number // 2 % PROBLEMS + 1}"
    return path, MARK if number % 2 else b""


def measure(judges: int, seconds: float) -> bool:
    """Print the table; whether the pages are fast enough."""
    print(f"{judges} judges, {PROBLEMS} problems, {seconds:.0f} s each")
    head = f"{'page':18} {'requests':>8} {'rate':>10} {'median':>10} {'95 %':>10} {'99 %':>10} {'server CPU':>10}"
    print(head)
    print(_under_load(entrance, judges, seconds).row("the smallest"))
    pages = _under_load(judging, judges, seconds)
    print(pages.row("look, mark"))
    tail = statistics.quantiles(pages.taken, n=20)[-1]
    print(f"the 95th percentile is {'under' if tail < LIMIT else 'OVER'} {1000 * LIMIT:.0f} ms")
    return tail < LIMIT


def _under_load(requests: Requests, judges: int, seconds: float) -> Load:
    with tempfile.TemporaryDirectory() as folder:
        problems = Path(folder) / "problems.jsonl"
        write_problems(problems, generate("en", PROBLEMS))
        names = [word for number in range(judges) for word in ("--judge", f"judge {number}")]
        command = [sys.executable, "-m", "comdiv", "judge", str(problems), *names, "--sample", str(PROBLEMS)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        server = subprocess.Popen(
            [*command, "--all", "--out", f"{folder}/session", "--port", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert server.stdout is not None
        links = [re.search(r"http\S+/judge/\S+", server.stdout.readline()) for _ in range(judges)]
        try:
            taken, lasted = asyncio.run(_all_judges([link[0] for link in links if link], requests, seconds))
        finally:
            server.terminate()
            server.communicate()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Load(taken, lasted, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


async def _all_judges(links: Sequence[str], requests: Requests, seconds: float) -> tuple[list[float], float]:
    taken: list[float] = []
    start = time.perf_counter()
    await asyncio.gather(*(_judge(link, requests, start + seconds, taken) for link in links))
    return taken, time.perf_counter() - start


async def _judge(link: str, requests: Requests, until: float, taken: list[float]) -> None:
    """One judge's requests over one connection, until the time is over."""
    parts = urlsplit(link)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    for number in count():
        begin = time.perf_counter()
        if begin >= until:
            break
        path, form = requests(number, parts.path)
        head = f"{'POST' if form else 'GET'} {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nHX-Request: true\r\n"
        if form:
            head += f"Origin: http://{parts.netloc}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            head += f"Content-Length: {len(form)}\r\n"
        writer.write(f"{head}\r\n".encode() + form)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer)
        if length is None or not answer.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{path}: {answer!r}")
        await reader.readexactly(int(length[1]))
        taken.append(time.perf_counter() - begin)
    writer.close()
