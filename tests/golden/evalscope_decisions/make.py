"""Writes this folder: `python make.py FOLDER`, where EvalScope is installed.

Sums of our own, put to a server of our own that answers by a seed, in both forms that EvalScope
speaks; all else is EvalScope's: its benchmarks, its client, its scoring, its reports.
"""

import json
import math
import random
import re
import shutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from evalscope import TaskConfig, run_task
from evalscope.api.metric import SampleScore
from evalscope.api.registry import get_aggregation

FOLDER = Path(sys.argv[1]).resolve()
DATA = FOLDER / "data"
NAMES = "first second third fourth fifth".split()


class Server(BaseHTTPRequestHandler):
    """Answers `/v1/systemone` and `/v1/decide` from a seed that the question is."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        systemone = self.path.endswith("/systemone")
        status, answer = (answer_systemone if systemone else answer_decide)(body)
        sent = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        """Nothing is logged."""


def sum_in(text):
    """What the first sum of a text comes to."""
    left, right = re.search(r"(\d+) \+ (\d+)", text).groups()
    return int(left) + int(right)


def probabilities(text, right, n, *, apart=True):
    """Of `n` options, one of them `right`; two of three questions have them in two decimals.

    `apart`: the two best differ by 0.03 or more.
    """
    for attempt in range(1000):
        rng = random.Random(f"{text}|{attempt}")
        logits = [rng.gauss(0, 1.4) + (1.1 if at == right else 0) for at in range(n)]
        weights = [math.exp(each) for each in logits]
        own = [each / math.fsum(weights) for each in weights]
        if rng.random() < 2 / 3:
            own = [round(each, 2) for each in own]
        best = sorted(own)
        if not apart or best[-1] - best[-2] >= 0.03:
            return own, round(0.5 + best[-1] / 2, 3) if rng.random() < 0.9 else None
    raise AssertionError(text)


def answer_systemone(body):
    """One question of a kind; "fault" in the state says what goes wrong."""
    question, state = body["questions"]["answer"], body["state"]
    text = json.dumps(state)
    fault = state.get("fault", "") if isinstance(state, dict) else ""
    if fault == "status":
        return 400, {"error": "this question cannot be read"}
    about = {"model": f"{body['model']}-2026", "usage": {"input_tokens": 40, "output_tokens": 1}}
    if fault == "refusal":
        return 200, {**about, "answers": {"answer": {"type": "refusal"}}}
    if question["type"] == "noul":
        claimed = int(re.search(r"is (\d+)", text)[1])
        (no, yes), confidence = probabilities(text, int(sum_in(text) == claimed), 2)
        return 200, {**about, "answers": {"answer": {"type": "noul", "noul": yes}}}
    criteria = question["criteria"]
    if question["type"] == "score":
        own, confidence = probabilities(text, min(len(criteria) - 1, sum_in(text) // 50), len(criteria))
        own = dict(zip(map(str, range(len(criteria))), own))
        answer = {
            "type": "score",
            "score": math.fsum(int(level) * each for level, each in own.items()),
            "legend": dict(zip(own, criteria)),
            "probabilities": own,
        }
        return 200, {**about, "answers": {"answer": answer}}
    options = list(criteria)
    total = str(sum_in(text)) if "+" in text else None
    right = next((at for at, key in enumerate(options) if criteria[key] == total), 0)
    own, confidence = probabilities(text, right, len(options))
    choice = options[own.index(max(own))]
    if fault == "sum":
        own = [each * 0.8 for each in own]
    if fault == "near":  # as three decimals may be off
        own = [each * 1.015 for each in own]
    if fault == "tie":  # of the right option and another; the later one is named
        tied = {right, (right + 1) % len(options)}
        own = [0.4 if at in tied else 0.2 / (len(options) - 2) for at in range(len(options))]
        choice = options[max(tied)]
    if fault == "other":
        choice = options[own.index(min(own))]
    named = dict(zip(options, own))
    if fault == "missing":
        named.pop(options[-1])
    answer = {"type": "choice", "choice": choice, "probabilities": named}
    if confidence is not None:
        answer["confidence"] = confidence
    return 200, {**about, "answers": {"answer": answer}}


def answer_decide(body):
    """The form of EvalScope's `autotrust_api`: options are a list, and so are probabilities."""
    text, options = body["state"], body.get("options", ["false", "true"])
    if body["kind"] == "choice":
        right = options.index(str(sum_in(text)))
    else:
        right = int(sum_in(text) == int(re.search(r"is (\d+)", text)[1]))
    own, _ = probabilities(text, right, len(options))
    best = own.index(max(own))
    return 200, {
        "model": "seeded-decider",
        "kind": body["kind"],
        "options": options,
        "probabilities": own,
        "choice_index": best,
        "choice": options[best],
    }


def sums(seed, n, numbers=(2, 3, 4, 5)):
    """Questions with so many options each; keys are names, letters or the options' texts."""
    rng = random.Random(seed)
    for place in range(n):
        left, right, size = rng.randint(11, 89), rng.randint(11, 89), numbers[place % len(numbers)]
        others = rng.sample([each for each in range(-20, 21) if each], size - 1)
        values = [str(left + right + each) for each in (0, *others)]
        rng.shuffle(values)
        keys = (NAMES, "ABCDE", values)[place % 3]
        said = f"{left} + {right}"
        yield {
            "id": f"{seed}-{place + 1}",
            "state": said if place % 2 else {"sum": said},
            "question": {
                "type": "choice",
                "instructions": "Which is the sum?",
                "criteria": dict(zip(keys, values)),
            },
            "expected": dict(zip(values, keys))[str(left + right)],
        }


def checks(seed, n):
    """Whether a sum is right."""
    rng = random.Random(seed)
    for place in range(n):
        left, right = rng.randint(11, 89), rng.randint(11, 89)
        claimed = left + right + rng.choice([0, 0, -10, 10])
        yield {
            "id": f"{seed}-{place + 1}",
            "state": f"{left} + {right} is {claimed}",
            "question": {"type": "noul", "instructions": "Is the sum right?"},
            "expected": "yes" if claimed == left + right else "no",
        }


def levels(seed, n):
    """How large a sum is."""
    rng = random.Random(seed)
    for place in range(n):
        left, right = rng.randint(11, 89), rng.randint(11, 89)
        yield {
            "id": f"{seed}-{place + 1}",
            "state": f"{left} + {right}",
            "question": {
                "type": "score",
                "instructions": "How large is the sum?",
                "criteria": ["below 50", "below 100", "below 150", "150 or more"],
            },
            "expected": str((left + right) // 50),
        }


def passages(seed, n):
    """Rows as BoolQ has them."""
    for row in checks(seed, n):
        yield {
            "question": "is the sum right",
            "passage": f"They say that {row['state']}.",
            "answer": row["expected"] == "yes",
        }


def messages():
    """Rows as BANKING77 has them: 77 options."""
    yield {"text": "My card has not come yet.", "label": 11}
    yield {"text": "How do I change the number?", "label": 21}


def faulty():
    """Each fault twice, and questions without one."""
    faults = ("", "sum", "near", "refusal", "missing", "tie", "other", "status")
    for place, row in enumerate(sums("faulty", 16, numbers=(3, 4, 5))):
        said = row["state"] if isinstance(row["state"], str) else row["state"]["sum"]
        yield {**row, "state": {"sum": said, "fault": faults[place % len(faults)]}}


def write(name, rows):
    path = DATA / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(folder, url, datasets, arguments, *, eval_type="systemone_api", model="seeded-decider"):
    run_task(
        TaskConfig(
            model=model,
            eval_type=eval_type,
            api_url=f"{url}/v1",
            datasets=datasets,
            dataset_args=arguments,
            work_dir=str(FOLDER / folder),
            no_timestamp=True,
            ignore_errors=True,
            eval_batch_size=1,
            generation_config={"retries": 1},
        )
    )


def main():
    write("choices/default_test.jsonl", sums("choices", 120))
    write("kinds/sums_test.jsonl", sums("sums", 12))
    write("kinds/more_test.jsonl", sums("more", 16, numbers=(3, 4)))
    write("kinds/checks_test.jsonl", checks("checks", 16))
    write("kinds/levels_test.jsonl", levels("levels", 6))
    write("faulty/default_test.jsonl", faulty())
    write("decide/sums_test.jsonl", ({**row, "state": str(row["state"])} for row in sums("decide", 12)))
    write("decide/checks_test.jsonl", checks("decide-checks", 6))
    write("boolq/validation.jsonl", passages("boolq", 10))
    write("banking77/test.jsonl", messages())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"

    def general(name, *subsets):
        return {"general_decision": {"local_path": str(DATA / name), "subset_list": [*subsets]}}

    one = ["general_decision"]
    run("choices", url, one, general("choices", "default"))
    run("kinds", url, one, general("kinds", "sums", "more", "checks", "levels"))
    run("faulty", url, one, general("faulty", "default"))
    run("decide", url, one, general("decide", "sums", "checks"), eval_type="autotrust_api")
    published = ["boolq", "banking77"]
    run("published", url, published, {name: {"local_path": str(DATA / name)} for name in published})
    figures = f"figures_python_{sys.version_info[0]}_{sys.version_info[1]}.json"
    (FOLDER / figures).write_text(json.dumps(unrounded("choices"), indent=1) + "\n")
    for each in ("choices", "kinds", "faulty", "decide", "published"):
        tidy(FOLDER / each)
    shutil.rmtree(DATA)


def unrounded(folder):
    """What EvalScope's aggregation makes of its own reviews, with all digits."""
    (path,) = (FOLDER / folder / "reviews").glob("*/*.jsonl")
    reviews = [json.loads(line) for line in path.read_text().splitlines()]
    scores = [SampleScore.model_validate(each["sample_score"]) for each in reviews]
    return {
        each.metric_name + " (confidence)" * (each.dimensions.get("confidence") == "provider_confidence"): each.score
        for each in get_aggregation("decision")()(scores)
    }


def tidy(folder):
    """Leaves out what is not read, the curves in the reports, and names of folders."""
    shutil.rmtree(folder / "logs")
    shutil.rmtree(folder / "predictions")
    (folder / "reports" / "report.html").unlink()
    for path in folder.glob("reports/*/*.json"):
        report = json.loads(path.read_text())
        del report["dataset_description"]
        for metric in report["metrics"]:
            for category in metric["categories"]:
                for subset in category["subsets"]:
                    subset["metadata"] = None
        path.write_text(json.dumps(report, indent=1) + "\n")
    for path in folder.glob("configs/*.yaml"):
        lines = path.read_text().replace(f"{FOLDER}/", "").splitlines()
        kept = [line for line in lines if not line.startswith(("dataset_dir:", "api_url:"))]
        path.write_text("\n".join(kept) + "\n")


main()
