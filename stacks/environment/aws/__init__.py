"""AWS as a ground: the account (`build.py`), and what only AWS needs on its cluster (`on_cluster.py`)."""
