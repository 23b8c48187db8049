"""Servers that are killed and come back, and an office whose model lies at them."""

import json
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from endpoint_server import MODELS
from flow_examples import Office, dataset

from evalui.models import read_catalog
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store import usage
from evalui.store.datasets import add_dataset
from evalui.store.usage import ModelWait
from evalui.types import Dataset, Sample

PROGRAM = Path(__file__).with_name("endpoint_server.py")
ASKED = 60
TRIALS = 4 * ASKED


class Place:
    """One server; it keeps its address when it is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.process: subprocess.Popen[str] | None = None
        folder.mkdir()
        self.be()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def be(
        self,
        *,
        status: int = 200,
        share: float = 1.0,
        refuse: str = "",
        refusal: str = "",
        delay: float = 0.004,
        most: int = 0,
        manner: str = "",
    ) -> None:
        """Change its mood, for every request from now on; see `endpoint_server`."""
        mood = self.folder / "mood.new"
        told = {"status": status, "share": share, "refuse": refuse, "delay": delay, "most": most}
        told |= {"manner": manner, "refusal": refusal}
        mood.write_text(json.dumps(told))
        mood.replace(self.folder / "mood.json")

    def start(self) -> None:
        command = [sys.executable, "-I", str(PROGRAM), str(self.port), str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        assert self.process
        assert self.process.stdout
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def answered(self) -> list[str]:
        """The questions of the run that it has answered."""
        return [prompt for prompt in self.noted() if " plus " in prompt]

    def noted(self) -> list[str]:
        """All it has answered, also what was only asked to find out what it can do."""
        return [prompt for _, prompt in self._lines("log")]

    def answered_before(self, moment: float) -> int:
        """How many questions of the run it had answered at a time of the clock."""
        return sum(at < moment for at, prompt in self._lines("log") if " plus " in prompt)

    def refused(self) -> int:
        """How many requests met the status of its mood."""
        return len(self._lines("refused"))

    def _lines(self, file: str) -> list[tuple[float, str]]:
        log = self.folder / file
        written = log.read_text() if log.exists() else ""
        # The last line may be on its way.
        return [json.loads(line) for line in written.splitlines(keepends=True) if "\n" in line]


class Branch(Office):
    """An office with the model `remote`, which lies at one or several servers."""

    def __init__(self, folder: Path, servers: int = 1) -> None:
        super().__init__(folder)
        self.places = [Place(folder / f"server-{number}") for number in range(servers)]
        urls = json.dumps([place.url for place in self.places])
        self.models.write_text(
            '[remote]\nbackend = "openai"\npath = "tiny"\ninput_price = 10.0\n'
            "output_price = 20.0\nchat = true\n[remote.options]\n"
            f'base_urls = {urls}\napi = "chat"\nconcurrency = 4\nretries = 1\ntimeout_s = 5\n'
        )

    def set_options(self, **options: float) -> None:
        """Set options of the model anew."""
        told = self.models.read_text()
        for name, value in options.items():
            told, found = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value}", told)
            told += "" if found else f"{name} = {value}\n"
        self.models.write_text(told)

    def queue_questions(self, n: int = ASKED, **settings: object) -> str:
        spec = RunSpec.model_validate(
            {
                "datasets": ["sums.csv"],
                "models": ["remote"],
                "mode": "generation",
                "pattern": "circular",
                **settings,
            }
        )
        data = dataset(n)
        plans = plan_run(spec, {"sums.csv": data}, read_catalog(self.models))
        add_dataset(self.database, data)
        return create_run(self.database, spec, plans)

    def answered_by_all(self) -> Counter[str]:
        """How often each question of the run was answered."""
        return Counter(prompt for place in self.places for prompt in place.answered())

    def waiting(self, run_id: str) -> ModelWait | None:
        """Why the only cell waits, None if it does not."""
        return next(iter(usage.model_waits(self.database, run_id).values()), None)

    def close(self) -> None:
        super().close()
        for place in self.places:
            place.kill()


class Panel(Office):
    """An office with two contestants and a judge, each at a server of its own."""

    def __init__(self, folder: Path, *, width: int) -> None:
        super().__init__(folder)
        self.places = {name: Place(folder / name) for name in MODELS}
        for name, place in self.places.items():
            with self.models.open("a") as file:
                file.write(
                    f'[{name}]\nbackend = "openai"\npath = "{name}"\nchat = true\n'
                    f'[{name}.options]\nbase_url = "{place.url}"\napi = "chat"\n'
                    f"concurrency = {width}\ntimeout_s = 30\n"
                )

    def queue_judged(self, n: int) -> str:
        """A run of so many questions to both contestants, judged in both orders."""
        samples = tuple(
            Sample(f"sums/{i}", f"What is {i} plus {i}?", target=(f"{2 * i}",)) for i in range(n)
        )
        data = Dataset("sums", "general_qa", samples, sha256="77aa" * 16)
        *contestants, judge = MODELS
        spec = RunSpec.model_validate(
            {
                "datasets": ["sums.jsonl"],
                "models": contestants,
                "judging": {"judges": [judge]},
            }
        )
        plans = plan_run(spec, {"sums.jsonl": data}, read_catalog(self.models))
        add_dataset(self.database, data)
        return create_run(self.database, spec, plans)

    def answered_in_all(self) -> int:
        """How many questions of the run the servers have answered together."""
        return sum(len(place.answered()) for place in self.places.values())

    def close(self) -> None:
        super().close()
        for place in self.places.values():
            place.kill()


class Shift:
    """A worker in a thread, so that the test can do something meanwhile."""

    def __init__(self, office: Office) -> None:
        catalog = read_catalog(office.models)
        self.ending = threading.Event()
        worker = Worker(office.database, lambda: catalog, name="here", stopping=self.ending.is_set)
        self._thread = threading.Thread(target=worker.run_once)

    def __enter__(self) -> "Shift":
        self._thread.start()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed:
            self.ending.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
