// Invalid requests and unavailable sources by endpoint: the input and the expected error. Other methods, HEAD and
// preflights are mostly in edge.test.ts.

import type { Sent } from './requests.ts'
import { type Convention, type DOORS, WALLET } from './table.ts'

/** `worded`: where another convention owns the path. */
type BadInput = Partial<Sent> & { readonly says: string; readonly worded?: Convention }
type Cases = Readonly<Record<string, BadInput>>

const MIB = 1024 * 1024
const PLAIN = { headers: { 'content-type': 'text/plain' } }
const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_syncing"}'
const list = (one: string, length: number) => `[${Array.from({ length }, () => one)}]`
const preflight = { method: 'OPTIONS', says: '204' }

/** Of an address that no node, no service and no source is ever asked about. */
const CHAINS: Cases = {
  'of another name': { path: '/v1/nope', says: '404 -32600' },
  'with a slash': { path: '/v1/stub%2Fx', says: '404 -32600' },
  'with dots': { path: '/v1/..%2Fstub', says: '404 -32600' },
  'with a dot': { path: '/v1/stub.', says: '404 -32600' },
  'in capitals': { path: '/v1/STUB', says: '404 -32600' },
  'of a prototype': { path: '/v1/__proto__', says: '404 -32600' },
}
const balances = (chain: string) => `/v1/${chain}/address/${WALLET}/balances_v2/`

export const BAD_INPUT: Readonly<Partial<Record<keyof typeof DOORS, Cases>>> = {
  'POST /info': {
    'truncated JSON': { body: '{"type":"meta"', says: '400 invalid_json' },
    'no body': { body: '', says: '400 invalid_json' },
    'an empty batch': { body: '[]', says: '422 invalid_request' },
    'a batch of 10,000': { body: list('{}', 10_000), says: '422 invalid_request' },
    'a type that is an object': { body: '{"type":{}}', says: '422 invalid_request' },
    'an unknown type': { body: '{"type":"nope"}', says: '400 unsupported_type' },
    'a question that its source fails at': { body: '{"type":"maxMarketOrderNtls"}', says: '502 upstream_failed' },
    'a question that its source is late with': {
      body: '{"type":"perpDexLimits","dex":"x"}',
      says: '504 upstream_timeout',
    },
    'a question that its source is too busy for': { body: '{"type":"vaultSummaries"}', says: '503 unavailable' },
    'another content type': { ...PLAIN, says: '415 unsupported_media_type' },
    'a form': { headers: { 'content-type': 'application/x-www-form-urlencoded' }, says: '415 unsupported_media_type' },
    'no content type': { headers: {}, says: '415 unsupported_media_type' },
    'a body over the bound': { body: ' '.repeat(64 * 1024 + 1), says: '413 body_too_large' },
    'a streamed body over the bound': {
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body: ' '.repeat(64 * 1024 + 1),
      says: '413 body_too_large',
    },
  },
  '/ws': {
    'no upgrade': { says: '422 invalid_request' },
  },
  'JSON-RPC': {
    'truncated JSON': { body: CALL.slice(0, -1), says: '400 -32700' },
    'no body': { body: '', says: '400 -32700' },
    'a text': { body: '"eth_syncing"', says: '400 -32600' },
    'an id that is an object': { body: CALL.replace('1,', '{"a":1},'), says: '400 -32600' },
    'an id that is a list': { body: CALL.replace('1,', '[1],'), says: '400 -32600' },
    'another version': { body: CALL.replace('2.0', '1.0'), says: '400 -32600' },
    'params that are text': { body: CALL.replace('}', ',"params":"x"}'), says: '400 -32600' },
    'no method': { body: '{"jsonrpc":"2.0","id":1}', says: '400 -32600' },
    'an unknown method': { body: CALL.replace('eth_syncing', 'nope'), says: '200 -32601' },
    eth_subscribe: { body: CALL.replace('eth_syncing', 'eth_subscribe'), says: '200 -32601' },
    'another content type': { ...PLAIN, says: '415 -32600' },
    'no content type': { headers: {}, says: '415 -32600' },
    'a body over the bound': { body: ' '.repeat(MIB + 1), says: '413 -32600' },
    'another method, and a slash': { path: '/v1/stub/', method: 'GET', body: '', says: '405 -32600' },
    'a node that fails': { path: '/v1/failing', says: '502 -32603' },
    'a node that is away': { path: '/v1/away', says: '502 -32603' },
    'a node that is late': { path: '/v1/late', says: '504 -32603' },
    'a node that is busy': { path: '/v1/busy', says: '503 -32603' },
    'a node that answers other calls': { path: '/v1/lying', says: '502 -32603' },
    'a path below the chain': { path: '/v1/stub/x', says: '404', worded: 'rest' },
    ...Object.fromEntries(Object.entries(CHAINS).map(([name, one]) => [`a chain ${name}`, one])),
  },
  'JSON-RPC in batches': {
    'an empty batch': { body: '[]', says: '400 -32600' },
    'a truncated batch': { body: `[${CALL},`, says: '400 -32700' },
    'a batch of 101': { body: list(CALL, 101), says: '400 -32600' },
    'a batch of 10,000': { body: list(CALL, 10_000), says: '400 -32600' },
    'ids that are objects': { body: list(CALL.replace('1,', '{},'), 2), says: '200 -32600' },
    'batches in a batch': { body: `[[${CALL}]]`, says: '200 -32600' },
    'a node that fails': { path: '/v1/failing', says: '502 -32603' },
    'a node that is late': { path: '/v1/late', says: '504 -32603' },
    'a node that is busy': { path: '/v1/busy', says: '503 -32603' },
    'a node that answers other calls': { path: '/v1/lying', says: '502 -32603' },
    'a chain of another name': { path: '/v1/nope', says: '404 -32600' },
    'another content type': { ...PLAIN, says: '415 -32600' },
  },
  'balances of the data API': {
    'a malformed address': { path: balances('stub').replace(WALLET, '0x12'), says: '400' },
    'a page of no size': { path: `${balances('stub')}?page-size=0`, says: '400' },
    'an unknown parameter': { path: `${balances('stub')}?limit=1`, says: '400' },
    'a parameter twice': { path: `${balances('stub')}?page-size=1&page-size=2`, says: '400' },
    'an unsupported chain': { path: balances('nope'), says: '404' },
    'a chain of nodes alone': { path: balances('failing'), says: '404' },
    'an address in capitals': { path: balances('stub').replace('0x', '0X'), says: '400' },
    'an address that is no text': { path: balances('stub').replace(WALLET, '%E0%A4%A'), says: '400' },
    'an address with a line’s end': { path: balances('stub').replace(WALLET, `${WALLET}%0a`), says: '400' },
    'a page beyond all': { path: `${balances('stub')}?page-size=1001`, says: '400' },
    'a page that is no number': { path: `${balances('stub')}?page-number=1e2`, says: '400' },
    'a data service that is away': { path: balances('away'), says: '503' },
    'a data service that is late': { path: balances('late'), says: '503' },
    'a data service that is busy': { path: balances('busy'), says: '503' },
    'a data service that answers garbage': { path: balances('lying'), says: '503' },
    'an exchange that fails': { path: balances('hyperliquid'), says: '503' },
    'a chain with a slash': { path: balances('stub%2Fx'), says: '404' },
    'a chain with dots': { path: balances('..%2Fstub'), says: '404' },
    'an invalid endpoint': { path: balances('stub').replace('balances_v2', 'nope'), says: '404' },
    'another method': { method: 'POST', says: '405' },
    HEAD: { method: 'HEAD', says: '200' },
    'a preflight': preflight,
  },
  'history of the data API': {
    'an unsupported chain': { path: '/v1/nope/history/coverage', says: '404' },
    'a range that ends before it begins': { path: '/v1/hyperliquid/history/coverage?from=2&to=1', says: '400' },
    'an unknown file': { path: '/v1/hyperliquid/history/files/archive/..%2Fx', says: '400' },
  },
  '/platform': {
    'malformed parameters': { path: '/platform/usage/?duration=7', says: '400' },
    'an invalid endpoint': { path: '/platform/nope/', says: '404' },
  },
  'list of pipelines': {
    'truncated JSON': { method: 'POST', body: '{"name":', says: '400' },
    'an empty batch': { method: 'POST', body: '[]', says: '400' },
    'a transform that writes': { method: 'POST', body: pipeline('DELETE FROM fills'), says: '400' },
    'a transform that attaches': { method: 'POST', body: pipeline("ATTACH 'x' AS y"), says: '400' },
    'a transform of 1 MB': { method: 'POST', body: pipeline(`SELECT '${'x'.repeat(MIB)}'`), says: '413' },
    'a transform of 100 KB': { method: 'POST', body: pipeline(`SELECT '${'x'.repeat(100_000)}'`), says: '400' },
    'an address with a password': {
      method: 'POST',
      body: pipeline('SELECT * FROM fills', 'https://user:pass@db.example/'),
      says: '400',
    },
    'a page of no size': { path: '/platform/pipeline-api/?page_size=0', says: '400' },
  },
  'a pipeline’s status': {
    'truncated JSON': { body: '{"status":"paused"', says: '400' },
    'no body': { body: '', says: '400' },
    'no status': { body: '{}', says: '400' },
    'another status': { body: '{"status":"stopped"}', says: '400' },
    'a body over the bound': { body: ' '.repeat(MIB + 1), says: '413' },
    'an id of another form': { path: '/platform/pipeline-api/nope/', says: '404' },
    'an id with dots': { path: '/platform/pipeline-api/pipe_..%2Fx/', says: '404' },
  },
  '/graphql': {
    'no upgrade': { says: '400 INVALID_REQUEST' },
    'another method': { method: 'POST', body: '{"query":"{ __typename }"}', says: '405 METHOD_NOT_ALLOWED' },
    HEAD: { method: 'HEAD', says: '400' },
    'a preflight': preflight,
  },
}

function pipeline(sql: string, url = 'https://example.com/'): string {
  const destination_config = { type: 'webhook', url, secret: `whsec_${'QUJD'.repeat(8)}` }
  return JSON.stringify({ name: 'x', topic: 'fills', status: 'paused', destination_config, transforms: { mine: sql } })
}

/** Frames of /ws with the code of the error frame, or of the close. */
export const BAD_FRAMES: Readonly<Record<string, readonly [frame: string, code: string | number]>> = {
  'truncated JSON': ['{"method":"ping"', 'invalid_json'],
  'an empty batch': ['[]', 'invalid_json'],
  'another method': ['{"method":"nope"}', 'invalid_request'],
  'no subscription': ['{"method":"subscribe"}', 'invalid_request'],
  'an unknown channel': ['{"method":"subscribe","subscription":{"type":"nope"}}', 'invalid_request'],
  'an unknown coin': ['{"method":"subscribe","subscription":{"type":"bbo","coin":"NONE"}}', 'not_found'],
  'an id that is an object': [
    '{"method":"post","id":{},"request":{"type":"info","payload":{"type":"meta"}}}',
    'invalid_request',
  ],
  'a frame over the bound': [`{"method":"ping","x":"${'x'.repeat(65_536)}"}`, 1009],
}

/** Messages of /graphql with the code of the close, or of the error. */
export const BAD_MESSAGES: Readonly<Record<string, readonly [message: string, code: string | number]>> = {
  'truncated JSON': ['{"type":"ping"', 4400],
  'an empty batch': ['[]', 4400],
  'an id that is an object': ['{"type":"subscribe","id":{},"payload":{"query":"{ __typename }"}}', 4400],
  'another type': ['{"type":"start","id":"1","payload":{}}', 4400],
  'a second introduction': ['{"type":"connection_init"}', 4429],
  'no document': ['{"type":"subscribe","id":"1","payload":{"query":""}}', 'INVALID_REQUEST'],
  'a mutation': ['{"type":"subscribe","id":"1","payload":{"query":"mutation { x }"}}', 'INVALID_REQUEST'],
  'an unknown channel': [
    '{"type":"subscribe","id":"1","payload":{"query":"subscription { nope }"}}',
    'INVALID_REQUEST',
  ],
  'a message over the bound': [`{"type":"ping","payload":{"x":"${'x'.repeat(65_536)}"}}`, 1009],
}
