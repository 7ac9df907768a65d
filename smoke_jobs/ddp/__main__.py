"""Runs the wrapper, torchrun where the wrapper asks for it, or one rank where torchrun started this process.

Works as a plain script from a ConfigMap mount too: there is no parent package then, so the folder that holds this
file is made one. The path is not resolved, because a mounted ConfigMap is a farm of links to a folder with a date
for a name.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

if __package__:
    PACKAGE = __package__
else:
    folder = Path(__file__).absolute().parent
    # Python put the folder itself on the path; left there, our modules would shadow others by their short names.
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != folder.resolve()]
    sys.path.insert(0, str(folder.parent))
    PACKAGE = folder.name

if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        module = "agent"
    elif "TORCHELASTIC_RUN_ID" not in os.environ:
        module = "entrypoint"
    elif os.environ.get("SMOKE_ROLE") == "interrupted":
        module = "interrupted"
    else:
        module = "worker"
    sys.exit(import_module(f"{PACKAGE}.{module}").main(sys.argv[1:]))
