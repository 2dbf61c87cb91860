"""From records to tables: every definition of a reported quantity, once."""
