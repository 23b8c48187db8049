"""python oc_run.py: OpenCompass's own writer of predictions, its circular items and its evaluators.

Makes predictions/ and results/ as `opencompass` does (openicl_infer, openicl_eval with
dump_details), for a model that answers A whenever it does not know.
"""
import importlib.abc, importlib.machinery, json, sys
from pathlib import Path
from unittest.mock import MagicMock

class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands for packages of other data sets, which are imported with every set and not used here."""
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__", "").startswith("importlib"):
            frame = frame.f_back
        if not frame.f_globals.get("__name__", "").startswith(("opencompass", "unittest")):
            return None
        if name.startswith("opencompass"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        made = MagicMock(name=spec.name); made.__path__ = []; made.__spec__ = spec
        return made
    def exec_module(self, module):
        pass
sys.meta_path.append(Absent())
from opencompass.datasets.circular import CircularDatasetMeta, CircularEvaluator
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer.icl_base_inferencer import GenInferencerOutputHandler
from opencompass.utils.text_postprocessors import first_option_postprocess

KNOWN = {"What is the capital of France?", "Which river flows through Cairo?", "What is 9 x 6?"}
PROMPT = "There is a single choice question. Answer with one letter.\nQuestion: {question}\nA. {A}\nB. {B}\nC. {C}\nD. {D}\nAnswer:"
root = Path("oc_out/20261123_120000")
rows = [json.loads(line) for line in Path("data/geography.jsonl").open()]
items = [{"question": r["question"], **dict(zip("ABCD", r["choices"])), "answer": r["letter"]} for r in rows]

def answer(item, n):
    text = item["answer"] if item["question"] in KNOWN else "A"
    return f"The answer is {text}." if n % 2 else text

def write(name, items, evaluator, **more):
    handler = GenInferencerOutputHandler()
    for n, item in enumerate(items):
        prompt = [{"role": "HUMAN", "prompt": PROMPT.format(**item)}]
        handler.save_results(prompt, answer(item, n), n, gold=item["answer"])
    folder = root / "predictions" / "pick-a"; folder.mkdir(parents=True, exist_ok=True)
    handler.write_to_json(str(folder), f"{name}.json")
    predicted = [first_option_postprocess(answer(item, n), "ABCD") for n, item in enumerate(items)]
    references = [item["answer"] for item in items]
    result = evaluator.score(predicted, references, **more)
    folder = root / "results" / "pick-a"; folder.mkdir(parents=True, exist_ok=True)
    details = result.pop("details", None)
    if name == "geography":  # openicl_eval with dump_details
        result["details"] = {str(n): {"pred": p, "answer": r, "correct": p == r} for n, (p, r) in enumerate(zip(predicted, references))}
    (folder / f"{name}.json").write_text(json.dumps(result, indent=4))

write("geography", items, AccEvaluator())
class Rows(list):
    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else list.__getitem__(self, key)
patterns = ["ABCD", "BCDA", "CDAB", "DABC"]
moved = [each for qid, item in enumerate(items) for each in CircularDatasetMeta.make_circular_items(item, patterns, list("ABCD"), "answer", None, qid)]
write("geography-circular", moved, CircularEvaluator("circular"), test_set=Rows(moved))
