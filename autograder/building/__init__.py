"""From masters and specifications to both editions of a notebook."""
