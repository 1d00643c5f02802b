"""What a workspace reaches outside: models, sources, searches of the web, and the secrets for them."""
