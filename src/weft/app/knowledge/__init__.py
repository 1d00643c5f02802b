"""Collections as faces offer them, and questions to them."""
