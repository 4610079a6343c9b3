// The MCP server of one request: the SDK's server with the tools, resources and prompts. It is loaded with the first
// request to /mcp. Invariant: it keeps nothing between requests, and opens no streams of its own.

import { createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type Caller, callTool } from './call-tool.ts'
import { INSTRUCTIONS, PAGES, PROMPTS, TYPE_TEMPLATE, typePath } from './library.ts'
import { describedTool } from './tool.ts'
import { outputOf } from './tool-result.ts'
import { TOOLS } from './tools.ts'

const SERVER = { name: 'weir', title: 'Weir', version: '1' }
/** The lists never change while a client is connected. */
const FIXED = { listChanged: false }
const CAPABILITIES = { tools: FIXED, resources: FIXED, prompts: FIXED }

/** `body`: the JSON of the request, which was read already. */
export function serveMcp(request: Request, body: unknown, caller: Caller): Promise<Response> {
  // A stream of changes would stay open and never have one.
  const options = { maxSubscriptions: 0, keepAliveMs: 0 }
  return createMcpHandler(() => serverOf(caller), options).fetch(request, { parsedBody: body })
}

const described = TOOLS.map((tool) => ({
  tool,
  config: {
    title: tool.title,
    description: describedTool(tool),
    inputSchema: tool.input,
    outputSchema: outputOf(tool),
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
}))

function serverOf(caller: Caller): McpServer {
  const server = new McpServer(SERVER, { instructions: INSTRUCTIONS, capabilities: CAPABILITIES })
  for (const { tool, config } of described)
    server.registerTool(tool.name, config, (input, { mcpReq: { _meta: metadata } }) =>
      callTool(tool, input, caller, metadata?.['x402/payment']),
    )
  for (const { uri, path, title, description, mimeType } of PAGES)
    server.registerResource(path, uri, { title, description, mimeType }, () => readPage(uri, path, mimeType, caller))
  const template = new ResourceTemplate(TYPE_TEMPLATE, { list: undefined })
  const about = { title: 'Schema of an info type', description: 'OpenAPI of one type', mimeType: 'application/json' }
  server.registerResource('info-type', template, about, ({ href }, { type }) => {
    const path = typePath(String(type))
    if (path === null) throw new Error('The name of the type is not valid.')
    return readPage(href, path, about.mimeType, caller)
  })
  for (const { name, title, description, fields, text } of PROMPTS)
    server.registerPrompt(name, { title, description, argsSchema: z.object(fields) }, (given) => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(given as Record<string, string>) } }],
    }))
  return server
}

async function readPage(uri: string, path: string, mimeType: string, { send }: Caller) {
  const { status, text } = await send({ path, price: 0 })
  if (status !== 200) throw new Error('This page does not exist on this gateway.')
  return { contents: [{ uri, mimeType, text }] }
}
