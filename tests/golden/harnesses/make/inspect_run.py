"""python inspect_run.py: writes logs/ with .eval and .json files."""
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
import inspect_task as t
LETTERS = ["A", "B", "B", "D", "A", "B", "The answer might be C or D", "D"]
def outputs(texts, epochs):
    made = [ModelOutput.from_content("mockllm/model", x) for x in texts for _ in range(epochs)]
    for each in made:
        each.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
    return made
letters = [x if len(x) > 1 else f"ANSWER: {x}" for x in LETTERS]
numbers = ["12", "The product is 54.", "63", "10", "It is 42", "96", "125", "28"]
one = get_model("mockllm/model", custom_outputs=outputs(letters, 2))
eval(t.geography(), model=one, epochs=2, log_dir="logs", log_format="eval", max_samples=1, display="none")
two = get_model("mockllm/model", custom_outputs=outputs(numbers, 1), memoize=False)
eval(t.arithmetic(), model=two, log_dir="logs", log_format="json", max_samples=1, display="none")
three = get_model("mockllm/model", custom_outputs=outputs(letters, 1), memoize=False)
eval(t.geography(shuffle=True), model=three, log_dir="logs_shuffled", log_format="eval", max_samples=1, display="none")
