"""§III-A: atoms, compounds, divergence, and the search for compositional splits."""

from comdiv.splitting.audit import SplitAudit
from comdiv.splitting.splitter import CompositionalSplit

__all__ = ["CompositionalSplit", "SplitAudit"]
