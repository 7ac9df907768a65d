"""RBAC: roles, bindings, and what every cluster brings."""
