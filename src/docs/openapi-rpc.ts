// JSON-RPC as an operation of the OpenAPI document: methods and their answers are the node's own.

export const RPC_REFUSALS: Readonly<Record<number, string>> = {
  400: 'The body is not JSON (−32700), or no call or batch of 1 to 100 calls (−32600)',
  401: 'The key is missing or wrong (−32001)',
  402: 'Not enough credits (−32003)',
  403: 'The key is not for JSON-RPC (−32002)',
  404: 'There is no such chain (−32600)',
  413: 'The body is larger than 1 MiB (−32600)',
  415: 'The content type is not application/json (−32600)',
  429: 'Too many calls; see `retry-after` (−32005)',
  500: 'A fault of ours; quote the request id (−32603)',
  502: 'The node answered with what is no answer (−32603)',
  503: 'The node is not available; see `retry-after` (−32603)',
  504: 'The node did not answer in time (−32603)',
}

const id = { type: ['string', 'number', 'null'] }
const call = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id,
    method: { type: 'string' },
    params: { type: ['array', 'object', 'null'] },
  },
}
const error = {
  type: 'object',
  required: ['code', 'message'],
  properties: { code: { type: 'integer' }, message: { type: 'string' } },
}
const answer = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  properties: { jsonrpc: { const: '2.0' }, id, result: {}, error },
}
const orBatch = (schema: object) => ({ oneOf: [schema, { type: 'array', items: schema, maxItems: 100 }] })
const content = (schema: object, example?: object) => ({ 'application/json': { schema, ...(example && { example }) } })

export function rpcOperation(): Readonly<Record<string, unknown>> {
  return {
    operationId: 'rpc',
    tags: ['rpc'],
    summary: 'JSON-RPC 2.0 of a chain',
    description:
      'A call or a batch. Each call costs what its method costs (one credit unless the operator says otherwise) where the ' +
      'node answered it with a result or a revert; other errors cost nothing. The key is taken from the header alone.',
    parameters: [
      { name: 'chain', in: 'path', required: true, description: 'Name of the chain', schema: { type: 'string' } },
    ],
    requestBody: {
      required: true,
      content: content(orBatch(call), { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    },
    responses: {
      200: {
        description: 'The answer, or one for each call of a batch that is no notification',
        content: content(orBatch(answer), { jsonrpc: '2.0', id: 1, result: '0x3722ab40' }),
      },
      204: { description: 'There were notifications alone' },
      ...Object.fromEntries(
        Object.entries(RPC_REFUSALS).map(([status, description]) => [
          status,
          { description, content: content(answer) },
        ]),
      ),
    },
  }
}
