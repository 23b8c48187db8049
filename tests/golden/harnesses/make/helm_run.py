"""python helm_run.py: HELM's own runner on the same questions, answered by a client of our own."""
import json
from pathlib import Path
from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.common_adapter_specs import get_multiple_choice_joint_adapter_spec
from helm.benchmark.executor import ExecutionSpec
from helm.benchmark.metrics.metric import MetricSpec
from helm.benchmark.run_spec import RunSpec
from helm.benchmark.runner import Runner
from helm.benchmark.scenarios.scenario import CORRECT_TAG, TEST_SPLIT, Input, Instance, Output, Reference, Scenario, ScenarioSpec
from helm.benchmark.config_registry import register_builtin_configs_from_helm_package
from helm.benchmark.metrics.common_metric_specs import get_exact_match_metric_specs
import dataclasses

from helm.clients.simple_client import SimpleClient
# The simple client repeats words of the prompt; here it picks A, or writes a sentence on rivers.
SimpleClient.invoke_model = lambda self, raw_request: {"completions": ["It is B" if "river" in raw_request["prompt"] else "A"]}

class Capitals(Scenario):
    name = "geography"; description = "common knowledge"; tags = []
    def get_instances(self, output_path):
        rows = [json.loads(line) for line in Path("data/geography.jsonl").open()]
        return [Instance(Input(text=r["question"]), [Reference(Output(text=c), tags=[CORRECT_TAG] if n == r["answer"] else []) for n, c in enumerate(r["choices"])], split=TEST_SPLIT, id=r["id"]) for r in rows]

register_builtin_configs_from_helm_package()
adapter = get_multiple_choice_joint_adapter_spec(instructions="Answer with one letter.", input_noun="Question", output_noun="Answer", max_train_instances=0, num_outputs=5)
adapter = dataclasses.replace(adapter, model="simple/model1", model_deployment="simple/model1", max_eval_instances=100)
spec = RunSpec(name="geography:model=simple_model1", scenario_spec=ScenarioSpec(class_name="helm_run.Capitals", args={}), adapter_spec=adapter, metric_specs=get_exact_match_metric_specs())
execution = ExecutionSpec(url=None, auth=None, local_path="helm_out/prod_env", parallelism=1)
import inspect as i
print(i.signature(Runner.__init__)); 
runner = Runner(execution_spec=execution, output_path="helm_out", suite="s", skip_instances=False, cache_instances=False, cache_instances_only=False, skip_completed_runs=False, exit_on_error=True)
runner.run_one(spec)
