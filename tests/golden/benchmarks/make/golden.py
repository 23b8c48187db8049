"""What lm_eval wrote of both models as one file: python golden.py TARGET OUT_LATE OUT_EARLY."""

import json
import sys
from pathlib import Path

KEPT = 12  # requests of each task, with what HFLM answered
FIGURES_ALONE = ("arc_challenge",)  # of texts that may not be part of the project


def main(target: Path, outputs: dict[str, Path]) -> None:
    """Write the figures, and some requests with their answers, of each model."""
    models = {}
    for model, folder in outputs.items():
        results = json.loads(next(folder.rglob("results_*.json")).read_text())
        requests = {}
        for path in sorted(folder.rglob("samples_*.jsonl")):
            task = path.name.removeprefix("samples_").rpartition("_")[0]
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            asked = [
                [list(arguments.values()), response[0]]
                for row in rows
                for arguments, response in zip(row["arguments"].values(), row["resps"], strict=True)
            ]
            if task not in FIGURES_ALONE:
                requests[task] = asked[:KEPT]
        models[model] = {"results": results["results"], "requests": requests}
    whole = {"lm_eval": results["lm_eval_version"], "models": models}
    target.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    late, early = map(Path, sys.argv[2:4])
    main(Path(sys.argv[1]), {"demo-late": late, "demo-early": early})
