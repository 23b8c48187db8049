"""Start the web application: `python app.py`, as `evalui serve`."""

from evalui.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main(["serve"]))
