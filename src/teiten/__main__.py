"""``python -m teiten``."""

from teiten.cli.main import main

main()
