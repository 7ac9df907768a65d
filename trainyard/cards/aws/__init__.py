"""Amazon Web Services.

Service models: the operations that the AWS provider calls to make a resource, and botocore's models of them (1.44.5,
2026-11-21); a test walks every input of every type with a model, at any depth, and fails for one that neither finds
its member nor is named as having none. Ids and ARNs: the service authorization reference (ARN formats, read 2026-11)
and the resource documentation. Automatic names: the provider's own lengths and the services' as generally known.
"""
