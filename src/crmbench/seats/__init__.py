"""The agent's side of a conversation, offered over HTTP and MCP to programs that are not ours."""
