"""The entry point when Python is given the folder: makes it a package, so that its files find each
other without Interlock around them."""

import importlib
import sys

here = sys.path.pop(0)
folder, _, name = here.rpartition("/")
sys.path.append(folder)
sys.exit(importlib.import_module(f"{name}.session").main(sys.argv[1:]))
