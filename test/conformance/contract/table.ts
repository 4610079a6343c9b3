// The contract of every endpoint as a table: the error of each failure, the ways to send a key, and invalid ones.
// Sources: the specification, docs/reference/info.md and docs/reference/websocket.md.

/** How a refusal is worded: info also before an upgrade of `/ws`, rest also under `/platform` and `/admin`. */
export type Convention = 'info' | 'rpc' | 'rest' | 'graphql'

/** A refusal in short: status and code, of GraphQL `extensions.code`. */
type Words = Readonly<Record<Convention, string>>
const says = (info: string, rpc: string, graphql: string): Words => ({ info, rpc, rest: info.slice(0, 3), graphql })

const MISSING = says('401 unauthorized', '401 -32001', 'MISSING_TOKEN')
const INVALID = says('401 unauthorized', '401 -32001', 'INVALID_TOKEN')
const FORBIDDEN = says('403 forbidden', '403 -32002', 'INVALID_TOKEN')
const SPENT = says('402 credits_exhausted', '402 -32003', 'CREDITS_EXHAUSTED')
const LIMITED = says('429 rate_limited', '429 -32005', 'RATE_LIMITED')
const KEYS_AWAY = says('503 unavailable', '503 -32603', 'AUTH_SYSTEM_ERROR')
const METER_AWAY = says('503 unavailable', '503 -32603', 'UNAVAILABLE')

/** What is wrong with a key, and what each convention says of it. There are no paused accounts: who may spend nothing is `spent`. */
export const FAILURES = {
  missing: MISSING,
  'cut short': INVALID,
  'of another gateway': INVALID,
  unknown: INVALID,
  revoked: INVALID,
  expired: INVALID,
  replaced: INVALID,
  'of the wrong kind': FORBIDDEN,
  'for another product': FORBIDDEN,
  'used from elsewhere': FORBIDDEN,
  spent: SPENT,
  'over its cap': SPENT,
  'over its rate': LIMITED,
  'while keys are away': KEYS_AWAY,
  'while the meter is away': METER_AWAY,
} as const satisfies Record<string, Words>
export type FailureName = keyof typeof FAILURES

/** What a request carries. */
export interface Carried {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Of the URL, with its question mark. */
  readonly query?: string
  /** Before the path. */
  readonly prefix?: string
  /** Of `connection_init`. */
  readonly payload?: Readonly<Record<string, unknown>>
}
type Way = (key: string) => Carried

const header = (authorization: string | readonly string[]): Carried => ({ headers: { authorization } })
const bearer: Way = (key) => header(`Bearer ${key}`)
const basic = (credentials: string) => header(`Basic ${btoa(credentials)}`)
const inUrl: Way = (key) => ({ query: `?key=${key}` })
const path: Way = (key) => ({ prefix: `/k/${key}` })
const payload = (name: string, value: unknown): Carried => ({ payload: { [name]: value } })

/** That no door takes: what is no key at all, and two keys, of which either could be meant. */
const NOWHERE: Readonly<Record<string, Way>> = {
  'without a scheme': (key) => header(key),
  'behind another scheme': (key) => header(`Token ${key}`),
  'in x-api-key': (key) => ({ headers: { 'x-api-key': key } }),
  'in two headers': (key) => header([`Bearer ${key}`, `Bearer ${key}`]),
  'as a password': (key) => basic(`:${key}`),
}

export interface Door {
  readonly convention: Convention
  readonly method: string
  readonly path: string
  /** A body that a good key is answered to. */
  readonly body?: unknown
  /** What a good key gets: a status, or `data` of a GraphQL subscription. */
  readonly good: string
  readonly kind: 'api' | 'service'
  /** Ways to present a key: those that are taken, the first of them everywhere below; those in which none is seen; and those in which what is seen is none. */
  readonly ways: Readonly<Record<string, Way>>
  readonly refusedWays: Readonly<Record<string, Way>>
  readonly brokenWays?: Readonly<Record<string, Way>>
  /** Cells that there are not, and why. */
  readonly never: Readonly<Partial<Record<FailureName, string>>>
}

const CALL = { jsonrpc: '2.0', id: 1, method: 'eth_syncing' }
const RPC = {
  convention: 'rpc',
  method: 'POST',
  path: '/v1/stub',
  good: '200',
  kind: 'api',
  ways: { 'as a bearer token': bearer },
  refusedWays: { ...NOWHERE, 'in the URL': inUrl, 'as basic credentials': (key) => basic(`${key}:`) },
  never: {},
} as const satisfies Door
const DATA = {
  convention: 'rest',
  method: 'GET',
  good: '200',
  kind: 'api',
  ways: {
    'as basic credentials': (key) => basic(`${key}:`),
    'as a bearer token': bearer,
    'behind "basic"': (key) => header(`basic  ${btoa(`${key}:`)}`),
  },
  refusedWays: { ...NOWHERE, 'in the URL': inUrl, 'as credentials without a colon': basic },
  brokenWays: {
    'with a space behind it': (key) => basic(`${key} :`),
    'in credentials that are no base64': (key) => header(`Basic ${key}:`),
    'in credentials that are no text': (key) => header(`Basic //79${btoa(`${key}:`)}`),
  },
  never: {},
} as const satisfies Omit<Door, 'path'>
const FREE = { spent: 'it is free', 'over its cap': 'it is free' }
const BEARER_ALONE = { ...NOWHERE, 'in the URL': inUrl, 'as basic credentials': (key: string) => basic(`${key}:`) }
const PIPELINES = {
  convention: 'rest',
  kind: 'service',
  ways: { 'as a bearer token': bearer },
  refusedWays: BEARER_ALONE,
  never: { ...FREE, 'for another product': 'a service key is for one product' },
} as const satisfies Partial<Door>

export const WALLET = `0x${'ab'.repeat(20)}`

export const DOORS = {
  'POST /info': {
    convention: 'info',
    method: 'POST',
    path: '/info',
    body: { type: 'exchangeStatus' },
    good: '200',
    kind: 'api',
    ways: { 'as a bearer token': bearer, 'behind "bearer"': (key) => header(`bearer  ${key}`), 'in the path': path },
    refusedWays: { ...NOWHERE, 'in the URL': inUrl, 'as basic credentials': (key) => basic(`${key}:`) },
    never: {},
  },
  '/ws': {
    convention: 'info',
    method: 'GET',
    path: '/ws',
    good: '101',
    kind: 'api',
    ways: { 'in the URL': inUrl, 'in the path': path, 'as a bearer token': bearer },
    refusedWays: {
      ...NOWHERE,
      'twice in the URL': (key) => ({ query: `?key=${key}&key=${key}` }),
      'with a space behind it': (key) => ({ query: `?key=${key}%20` }),
      'as basic credentials': (key) => basic(`${key}:`),
    },
    never: { 'over its cap': 'it connects, and is told when it subscribes' },
  },
  'JSON-RPC': { ...RPC, body: CALL },
  'JSON-RPC in batches': { ...RPC, body: [CALL, { ...CALL, id: 'b' }] },
  'balances of the data API': { ...DATA, path: `/v1/stub/address/${WALLET}/balances_v2/` },
  'history of the data API': { ...DATA, path: '/v1/hyperliquid/history/coverage' },
  '/platform': {
    convention: 'rest',
    method: 'GET',
    path: '/platform/key/',
    good: '200',
    kind: 'api',
    ways: { 'as a bearer token': bearer },
    refusedWays: BEARER_ALONE,
    never: { ...FREE, 'of the wrong kind': 'it takes both', 'for another product': 'every key reads itself' },
  },
  'list of pipelines': { ...PIPELINES, method: 'GET', path: '/platform/pipeline-api/', good: '200' },
  // Of another group: as if there were none.
  'a pipeline’s status': {
    ...PIPELINES,
    method: 'PUT',
    path: '/platform/pipeline-api/pipe_11111111111111111111/',
    good: '404',
    body: { status: 'paused' },
  },
  '/graphql': {
    convention: 'graphql',
    method: 'GET',
    path: '/graphql',
    good: 'data',
    kind: 'api',
    ways: {
      'as SERVICE_API_KEY': (key) => payload('SERVICE_API_KEY', key),
      'as Authorization': (key) => payload('Authorization', key),
      'behind "Bearer"': (key) => payload('Authorization', `Bearer ${key}`),
      'as SERVICE_API_KEY behind "Bearer"': (key) => payload('SERVICE_API_KEY', `Bearer ${key}`),
    },
    refusedWays: {
      'in the URL': inUrl,
      'as a header': bearer,
      'under another name': (key) => payload('apiKey', key),
    },
    brokenWays: {
      'in a list': (key) => payload('SERVICE_API_KEY', [key]),
      'with a space behind it': (key) => payload('SERVICE_API_KEY', `${key} `),
    },
    never: {},
  },
} as const satisfies Record<string, Door>
