"""Flows that a stack needs: declared once in `needs.yaml`, found in what is recorded, and asked of the walls."""
