"""Research that uses the package as a library."""
