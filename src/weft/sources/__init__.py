"""Sources: providers of tools and data from outside (MCP servers, HTTP APIs, folders, searches), offered as tools."""
