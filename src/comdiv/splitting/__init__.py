"""§III-A: atoms, compounds, divergence, and the search for compositional splits."""
