"""The DDP smoke job: checks that a distributed training job must pass before a stack is called ready.

PyTorch and the standard library only; MLflow, nvidia-ml-py and boto3 are used where present. The package is flat and
small, so that a ConfigMap can hold it: mounted at /any/folder/ddp it runs as `python /any/folder/ddp/__main__.py`,
as `python -m ddp`, or directly as the script of `torchrun`. It imports nothing from the rest of the project.

Without torchrun's environment the module is the entrypoint wrapper (`entrypoint.py`), which starts torchrun and
keeps the exit code; inside torchrun it is one rank (`worker.py`).
"""
