"""python es_run.py: EvalScope on the same questions, answered by its own mock model."""
from evalscope import TaskConfig, run_task
run_task(TaskConfig(model="mock", eval_type="mock_llm", datasets=["general_mcq", "general_qa"],
  dataset_args={"general_mcq": {"local_path": "es_data", "subset_list": ["geography", "arithmetic"]},
                "general_qa": {"local_path": "es_data", "subset_list": ["written"]}},
  work_dir="es_out", no_timestamp=True, seed=42))
