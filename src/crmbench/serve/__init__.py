"""Our orgs for anybody's client: sandbox orgs and graded sessions behind HTTP and MCP."""
