"""placeholder"""
from typing import Any
Comparison = Any
compare: Any = None
