"""What a GPU must show: `make gpu`."""
