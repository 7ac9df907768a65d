"""SageMaker: what its API and the provider accept and what then does not work.

Facts: SageMaker API reference and developer guide, read 2026-11; what nothing refuses was tried on the provider 5.100.0
and on botocore's models 1.44.5.
"""
