"""A vLLM that is a formula, for whoever wants to open it."""

import sys
from pathlib import Path

# Outside the virtual environment, where nobody can tell what an interpreter has.
PYTHON = str(Path(sys.executable).resolve())
FAKE = Path(__file__).with_name("vllm_fake")
