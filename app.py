"""The web application: `python app.py` is `evalui serve`, and `gradio app.py` shows a page anew
whenever its module is saved.
"""

import os

from evalui.cli.main import main

if __name__ == "__main__" and "GRADIO_WATCH_DIRS" not in os.environ:
    raise SystemExit(main(["serve"]))  # listens before Gradio is imported, which takes seconds

from evalui.ui.workbench import launch, make_demo

demo = make_demo()

if __name__ == "__main__":
    launch(demo)
