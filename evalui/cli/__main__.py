"""`python -m evalui.cli`: the same as the program `evalui`."""

from evalui.cli.main import main

raise SystemExit(main())
