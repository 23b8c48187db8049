"""OpenCompass's CircularEvaluator (opencompass 0.5.4 from PyPI, unmodified) on drawn replies."""
import importlib.util, itertools, json, random, sys, types
from importlib.metadata import version
from pathlib import Path
import opencompass
def stub(name, **attributes):
    module = types.ModuleType(name); module.__dict__.update(attributes); sys.modules[name] = module
class BaseEvaluator:
    def __init__(self): pass
root = Path(opencompass.__file__).parent
stub("opencompass.openicl"); stub("opencompass.openicl.icl_evaluator", BaseEvaluator=BaseEvaluator)
package = types.ModuleType("opencompass.datasets"); package.__path__ = [str(root / "datasets")]; sys.modules["opencompass.datasets"] = package
for mod, cls in [("arc","ARCDataset"),("ceval","CEvalDataset"),("cmmlu","CMMLUDataset"),("commonsenseqa","commonsenseqaDataset"),("hellaswag","HellaswagDataset_V2"),("mmlu","MMLUDataset"),("obqa","OBQADataset"),("piqa","PIQADatasetV2"),("race","RaceDataset"),("siqa","SiqaDatasetV3"),("xiezhi","XiezhiDataset")]:
    stub(f"opencompass.datasets.{mod}", **{cls: type(cls, (), {"dataset_class": None, "load": staticmethod(lambda **k: None)})})
spec = importlib.util.spec_from_file_location("opencompass.datasets.circular", root / "datasets" / "circular.py")
circular = importlib.util.module_from_spec(spec); sys.modules[spec.name] = circular; spec.loader.exec_module(circular)
QUESTIONS = [
 ("下列哪些属于可再生能源？", ["太阳能", "风能", "水能", "以上都是"], "D"),
 ("中国的首都是？", ["上海", "北京", "广州", "以上都不对"], "B"),
 ("Which are prime?", ["2", "3", "both A and B", "4"], "C"),
 ("H2O is", ["water", "salt", "gold", "air"], "A"),
 ("Which of these float?", ["wood", "cork", "all of the above", "iron"], "C"),
 ("Twins", ["red", "red", "blue", "green"], "C"),
 ("2+2=", ["3", "4", "5", "6"], "B"),
 ("以下说法正确的是", ["光速不变", "以上说法都不对", "地球是平的", "水在零度沸腾"], "A"),
 ("Largest ocean", ["Atlantic", "Pacific", "Indian", "Arctic"], "B"),
 ("最长的河流", ["长江", "黄河", "珠江", "A和B"], "A"),
]
cases = []
for pattern in ("circular", "all_possible"):
    for seed in range(4):
        rng = random.Random(seed)
        rows, predictions, references = [], [], []
        for qid, (question, options, answer) in enumerate(QUESTIONS):
            keys = ("A", "B", "C", "D")
            orders = circular.get_circular_patterns(keys) if pattern == "circular" else circular.get_all_possible_patterns(keys)
            for order in orders:
                predicted = order["ABCD".index(answer)] if rng.random() < 0.4 + 0.05 * qid else rng.choice("ABCD")
                rows.append({"qid": qid, "circular_pattern": order})
                predictions.append(predicted); references.append(order["ABCD".index(answer)])
        values = circular.CircularEvaluator(pattern).score(predictions, references, rows)
        cases.append({"pattern": pattern, "seed": seed, "rows": [[r["qid"], "".join(r["circular_pattern"]), p] for r, p in zip(rows, predictions)], "values": values})
json.dump({"source": f"opencompass {version('opencompass')} (PyPI), opencompass/datasets/circular.py: get_circular_patterns, get_all_possible_patterns, CircularEvaluator.score", "questions": [{"question": q, "options": o, "answer": a} for q, o, a in QUESTIONS], "cases": cases}, open(sys.argv[1], "w"), ensure_ascii=False)
print(cases[0]["values"])
