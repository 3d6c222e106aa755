// What is used of the official SDK of the Model Context Protocol: a bundle of its own, loaded by
// `trainyard mcp` alone (scripts/build/build.mjs).
// eslint-disable-next-line @typescript-eslint/no-deprecated -- the low level: our schemas are JSON schemas already
export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
