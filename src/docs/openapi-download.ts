// Fetching a file of the history as an operation of the OpenAPI document: a link says all of it.

const parameter = (name: string, place: 'path' | 'query' | 'header', description: string, required = true) => {
  return { name, in: place, required, description, schema: { type: 'string' } }
}
const bytes = { 'application/gzip': {} }
const refusal = (status: number) => ({ $ref: `#/components/responses/platform-${status}` })

export function downloadOperation(): Readonly<Record<string, unknown>> {
  return {
    operationId: 'historyFile',
    tags: ['data'],
    summary: 'A file of the history, by a link to it',
    description: 'Links come from `GET /v1/{chain}/history/files`. Without a key, free: the link was paid for.',
    security: [],
    parameters: [
      parameter('chain', 'path', 'Name of the chain'),
      parameter('key', 'path', 'Name of the file, with its slashes'),
      parameter('expires', 'query', 'When the link ends, Unix milliseconds'),
      parameter('sig', 'query', 'The link’s signature'),
      parameter('range', 'header', 'One part of the file, such as `bytes=0-1023`', false),
    ],
    responses: {
      200: { description: 'The file', content: bytes },
      206: { description: 'The part that was asked for', content: bytes },
      ...Object.fromEntries([400, 403, 404, 429, 500, 503].map((status) => [status, refusal(status)])),
      416: { description: 'There is no such part; `content-range` says how long the file is' },
    },
  }
}
