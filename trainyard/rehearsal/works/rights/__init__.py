"""Who may do what: one evaluator of a cloud's policies and of Kubernetes' RBAC over recorded resources.

`stack.Rights` answers for both; `aws/` and `kubernetes/` hold what only they know. A verdict says which statement
decides, in words.
"""
