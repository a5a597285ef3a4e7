"""``python -m teiten``."""

from teiten.start import run

run()
