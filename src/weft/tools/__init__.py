"""What a model may do: the Tool contract, the toolbox, the built-in tools, the permission rules, the web fetcher."""
