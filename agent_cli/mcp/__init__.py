"""Servers of tools that speak MCP: started, asked, restarted, ended."""
