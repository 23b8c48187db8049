"""Start the web application: `python app.py`."""

from evalui.settings import Settings
from evalui.ui.server import serve

if __name__ == "__main__":
    serve(Settings())
