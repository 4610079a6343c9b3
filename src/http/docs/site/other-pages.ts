// Pages that are not generated from one definition: lists of types, channels and calls, JSON-RPC methods, webhook
// events, /status.

import { postSamples } from '../../../console/requests/code-samples.ts'
import type { AnyQuery } from '../../../info/query.ts'
import { HistoryShape } from '../../../monitor/history.ts'
import { StatusShape } from '../../../protocol/feed/status-shape.ts'
import type { AnyChannel } from '../../../relay/channel.ts'
import { CallPrices, parseChains } from '../../../rpc/chains.ts'
import { freshnessText, minutePriceText, priceText } from '../definition-text.ts'
import { RPC_REFUSALS } from '../openapi-fixed.ts'
import { EVENTS } from '../openapi-operations.ts'
import { codeBlocks } from './code-blocks.ts'
import { fieldRows, fieldTable } from './field-table.ts'
import { block, code, jsonText, linkLists, type Page, SECTIONS, table } from './page.ts'
import { byGroup, CHANNEL_GROUPS, type Groups, TYPE_GROUPS } from './type-groups.ts'

/** A table of definitions for each group. */
function groupedTables<Definition extends { readonly type: string }>(
  definitions: readonly Definition[],
  groups: Groups,
  head: readonly string[],
  rowOf: (definition: Definition) => readonly string[],
): string {
  const grouped = byGroup(definitions, groups)
  const parts = groups.map(([title]) => {
    const rows = grouped.filter(([group]) => group === title).map(([, definition]) => rowOf(definition))
    return `## ${title}\n\n${table(head, rows)}`
  })
  return parts.join('\n\n')
}

export function channelList(channels: readonly AnyChannel[]): Page {
  const tables = groupedTables(channels, CHANNEL_GROUPS, ['Channel', 'Content', 'Credits'], (channel) => {
    return [`[\`${channel.type}\`](/docs/channels/${channel.type})`, channel.summary, minutePriceText(channel)]
  })
  return {
    address: '/docs/channels',
    title: 'All channels',
    summary: 'Every channel of the WebSocket, with its price',
    section: 'streams',
    markdown: `# All channels\n\nEvery channel of \`/ws\` and of [GraphQL](/docs/reference/graphql). [WebSocket](/docs/reference/websocket) explains connecting, subscribing and billing.\n\n${tables}`,
  }
}

export function typeList(queries: readonly AnyQuery[]): Page {
  const tables = groupedTables(queries, TYPE_GROUPS, ['Type', 'Content', 'Credits', 'Freshness'], (query) => {
    return [`[\`${query.type}\`](/docs/info/${query.type})`, query.summary, priceText(query), freshnessText(query)]
  })
  return {
    address: '/docs/types',
    title: 'All types',
    summary: 'Every type of POST /info, with its price and freshness',
    section: 'info',
    markdown: `# All types\n\n\`POST /info\` requires a \`type\`. [Info endpoint](/docs/reference/info) explains requests, headers and history.\n\n${tables}`,
  }
}

export function endpointList(endpoints: readonly Page[]): Page {
  const parts = (['platform', 'pipelines', 'data', 'operator'] as const).map((section) => {
    const rows = endpoints
      .filter((page) => page.section === section)
      .map(({ address, title, summary }) => [`[\`${title}\`](${address})`, summary])
    return `## ${SECTIONS[section]}\n\n${table(['Call', 'Result'], rows)}`
  })
  return {
    address: '/docs/rest',
    title: 'All REST calls',
    summary: 'Every REST call, grouped by audience',
    section: 'platform',
    markdown: `# All REST calls\n\nSend keys and tokens as \`Authorization: Bearer\`. [Authentication](/docs/reference/authentication) lists the kinds of keys.\n\n${parts.join('\n\n')}`,
  }
}

const BLOCK = 'block: hex number, `latest`, `earliest`, `pending`, `safe` or `finalized`'
/** Common EVM methods with parameters and results. The settings of the chain decide which of them are served. */
const RPC_METHODS: readonly (readonly [method: string, params: string, result: string])[] = [
  ['eth_blockNumber', 'none', 'number of the latest block'],
  ['eth_chainId', 'none', 'chain id'],
  [
    'eth_call',
    `call (\`to\`, \`data\`, …); ${BLOCK}`,
    'return value of the contract; a revert is error 3 and is charged',
  ],
  ['eth_estimateGas', 'call; block (optional)', 'estimated gas'],
  ['eth_gasPrice', 'none', 'gas price'],
  ['eth_maxPriorityFeePerGas', 'none', 'current priority fee'],
  ['eth_feeHistory', 'number of blocks; newest block; percentiles', 'fees of these blocks'],
  ['eth_getBalance', 'address; block', 'balance in wei'],
  ['eth_getCode', 'address; block', 'contract code'],
  ['eth_getStorageAt', 'address; slot; block', 'value of the slot'],
  ['eth_getTransactionCount', 'address; block', 'nonce of the address'],
  ['eth_getBlockByNumber', 'block; whether to include full transactions', 'block, or null'],
  ['eth_getBlockByHash', 'hash; whether to include full transactions', 'block, or null'],
  ['eth_getBlockReceipts', 'block or its hash', 'receipts of all transactions'],
  ['eth_getBlockTransactionCountByNumber', 'block', 'number of transactions'],
  ['eth_getTransactionByHash', 'hash', 'transaction, or null'],
  ['eth_getTransactionReceipt', 'hash', 'receipt, or null'],
  ['eth_getLogs', 'filter: `fromBlock`, `toBlock` or `blockHash`, `address`, `topics`', 'matching logs'],
  [
    'eth_sendRawTransaction',
    'signed transaction',
    'transaction hash; the gateway sends the transaction only once, to one node',
  ],
  ['eth_syncing', 'none', 'sync status of the node'],
  ['net_version', 'none', 'network id'],
  ['web3_clientVersion', 'none', 'client version of the node'],
  ['eth_subscribe', 'event type', 'not available over HTTP; use [streams](/docs/reference/websocket)'],
  ['eth_newFilter', 'filter', 'filter id; the filter would exist on one node only'],
  ['eth_accounts', 'none', 'accounts of the node'],
  ['eth_sendTransaction', 'transaction', 'transaction hash; the node would have to sign the transaction'],
  ['debug_traceTransaction', 'hash; options', 'execution trace'],
]

/** Methods of a chain with default settings. */
export function rpcMethodsPage(): Page {
  const chains = parseChains('[{"name":"hyperliquid","urls":["https://node.example.com/evm"]}]')
  if (!chains.ok) throw new Error(chains.error)
  const [prices] = chains.value.map((chain) => new CallPrices(chain))
  const rows = RPC_METHODS.map(([method, params, result]) => {
    return [code(method), params, result, (prices?.of(method) ?? null) === null ? 'no' : 'yes']
  })
  const example = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }
  return {
    address: '/docs/rpc/methods',
    title: 'JSON-RPC methods',
    summary: 'Common JSON-RPC methods, with parameters and results',
    section: 'reference',
    keywords: RPC_METHODS.map(([method]) => method),
    markdown: [
      '# JSON-RPC methods\n\nThis table lists common methods. Every other method of the node whose name begins with `eth_`, `net_` or `web3_` works as well. A call costs one credit. The operator of a gateway may change prices and methods. [JSON-RPC](/docs/reference/json-rpc) explains requests and batches.',
      table(['Method', 'Parameters', 'Result', 'Offered'], rows),
      `## Example\n\n${codeBlocks(postSamples('/v1/hyperliquid', example))}\n\n${block('json', jsonText({ jsonrpc: '2.0', id: 1, result: '0x3722ab40' }))}`,
      `## Errors\n\nErrors are \`{"jsonrpc":"2.0","id","error":{"code","message"}}\`; errors of the node pass through and are free. [All codes](/docs/reference/errors#json-rpc).\n\n${table(['Status', 'Cause and code'], Object.entries(RPC_REFUSALS))}`,
    ].join('\n\n'),
  }
}

export function webhooksPage(): Page {
  const events = EVENTS.map(({ schema, summary, example }) => {
    return `## ${example.type}\n\n${summary}.\n\n${block('json', jsonText(example))}\n\n${fieldTable(fieldRows(schema), false)}`
  })
  return {
    address: '/docs/webhooks',
    title: 'Webhook events',
    summary: 'Events that the webhook of an account receives',
    section: 'platform',
    markdown: `# Webhook events\n\nThe webhook of an account receives these events. [Receive webhooks](/docs/guides/webhooks) shows how to verify them.\n\n${events.join('\n\n')}`,
  }
}

const RECHECK = [
  'curl -s "$WEIR_URL/status/history.json" > history.json',
  'curl -s "$WEIR_URL$(jq -r .bundle.path history.json)" > hours.ndjson',
  'sha256sum hours.ndjson && jq -r .bundle.sha256 history.json',
  `jq -c .hour[] history.json | cat hours.ndjson - | jq -sc 'group_by(.component)[] |
  {component: .[0].component, checks: (map(.checks) | add), failed: (map(.failed) | add)}'`,
].join('\n')

/** All fields of /status; the operators' docs explain what to do about them. */
export function statusPage(): Page {
  return {
    address: '/docs/rest/status',
    title: 'GET /status',
    summary: 'State of the feed and the data sources',
    section: 'operator',
    keywords: ['status', 'monitor', 'health', 'uptime', 'availability', 'incidents', 'maintenance', 'RSS'],
    request: { method: 'GET', path: '/status', base: null, fields: [], isPublic: true },
    markdown: `# GET /status\n\nState of the feed and the data sources. The call needs no key and is free. The response is at most one second old. Monitor \`state\`, which is \`live\` in normal operation, and display \`advice\`. \`GET /status/ready\` responds with status 200 if \`state\` is \`live\`, otherwise with 503; \`GET /status/live\` responds with 200 if the gateway runs. [Status fields](/docs/operators/reference/status) explains each field and what to do.\n\n## Code\n\n${block('bash', 'curl -s "$WEIR_URL/status"')}\n\n## Response\n\n${fieldTable(
      fieldRows(StatusShape).map((row) => ({ ...row, description: row.description?.split('\n')[0] ?? null })),
      false,
    )}\n\n## History\n\n\`GET /status/history.json\` has the availability of the last 90 days, and incidents. \`GET /status/incidents.rss\` has the incidents as an RSS feed. Both need no key and are free.\n\n${fieldTable(fieldRows(HistoryShape), false)}\n\n## Check the figures\n\n\`bundle.path\` is a file with a line per component and hour. The uptime is the share of successful checks in these lines and in \`hour\`. A percentile is the smallest bound in \`times\` below which that share of the times lies.\n\n${block('bash', RECHECK)}`,
  }
}

/** One page with links to all pages, for the browser's search. */
export function allPage(pages: readonly Page[]): Page {
  return {
    address: '/docs/all',
    title: 'All pages',
    summary: 'Links to all pages',
    section: 'start',
    markdown: `# All pages\n\nEvery page of this documentation. Append \`.md\` to an address for Markdown. Machine-readable: [OpenAPI](/openapi.json), [AsyncAPI](/asyncapi.json), [GraphQL schema](/graphql/schema.graphql), [llms.txt](/llms.txt).\n\n${linkLists(pages, '')}`,
  }
}
