"""What tables, figures and the page of a whole experiment cost."""
