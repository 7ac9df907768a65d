"""The programs that run beside MLflow on Cloud Run, sent as text: the image has Python, psycopg2 and SQLAlchemy beside
MLflow, and nothing of Trainyard.

* `sitecustomize.py`: the server's login to its database, a token in place of a password.
* `migrate.py`: brings the tables up to date before a new revision starts, and gives the server its rights on rows.
"""

from importlib.resources import files

SERVER, MIGRATION = "sitecustomize.py", "migrate.py"

BEGIN = (
    "import json, os, pathlib, sys; "
    "home = pathlib.Path(os.environ['TRAINYARD_HOME']); "
    "home.mkdir(parents=True, exist_ok=True); "
    "[(home / name).write_text(text) for name, text in json.loads(os.environ.pop('TRAINYARD_FILES')).items()]; "
    "os.environ['PYTHONPATH'] = str(home); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""What a container runs first, `python -c BEGIN COMMAND`: Cloud Run has no files but those of the image, so that the
others come as a variable. Then the container is COMMAND."""


def source(name: str) -> str:
    """Text of one of the programs."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
