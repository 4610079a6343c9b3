// The HTTP surfaces as a page for people, from the same definitions as the OpenAPI document. Plain HTML: no script, nothing
// from elsewhere, searchable with the browser's own search. Every value is escaped.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import type { AnyQuery } from '../info/query.ts'
import { type AnyChannel, publishedFrame } from '../stream/channel.ts'
import { channelSourceText, exampleFrames, minutePriceText, snapshotText } from './channel-text.ts'
import { CLOSE_CODES } from './close-codes.ts'
import { operationText } from './operation-text.ts'
import { freshnessText, priceText, sourceText } from './query-text.ts'

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
details { border-top: 1px solid #8884; padding: .5rem 0 }
summary { cursor: pointer }
td { vertical-align: top; padding: .25rem .75rem .25rem 0 }
pre { overflow: auto; padding: .75rem; background: #8881; font-size: 13px }
code { font: 14px ui-monospace, monospace }
small { opacity: .75 }`

const BEGINNING = `A key goes into <code>Authorization: Bearer &lt;key&gt;</code>; on <code>/ws</code>, where browsers can set
no header, also into <code>?key=&lt;key&gt;</code>. Copy this, with the address that this page came from:</p>
<pre>
URL=…  KEY=…
curl -s $URL/info -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"type":"l2Book","coin":"BTC"}'
curl -s $URL/platform/key/ -H "Authorization: Bearer $KEY"     # what the key has left; free
npx wscat -c "\${URL/http/ws}/ws?key=$KEY" -w 30 -x '{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}'
</pre>
<p>For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1: every call),
<a href="/asyncapi.json">/asyncapi.json</a> (AsyncAPI 3: every frame of the WebSocket) and
<a href="/graphql/schema.graphql">/graphql/schema.graphql</a> (the subscriptions of <code>/graphql</code>).
How fresh everything is: <a href="/status">/status</a>.</p>
<p>Prices stand with each type: one credit for most calls, one a minute for most subscriptions. Only a 2xx costs, and
<code>x-credits-cost</code> and <code>x-credits-remaining</code> tell of each call. Prices and sizes of the exchange are
decimal strings, times are Unix milliseconds; answers and frames may gain fields.`

const CONTENTS = `<a href="#info">Info: questions</a> · <a href="#streams">Streams: the WebSocket</a> ·
<a href="#rpc">JSON-RPC</a> · <a href="#platform">Platform: your key, its usage, pipelines</a> · <a href="#data">Data: balances, the history as files</a> · <a href="#operator">Operator</a>`

const INFO = `Every question is <code>POST /info</code> with <code>Content-Type: application/json</code>; <code>type</code>
selects it. Unknown fields of a request are ignored. A refusal is <code>{"error","code","msg","request_id"}</code>, where
<code>msg</code> names the field and the fix.`

const STREAMS = `Connect to <code>/ws?key=&lt;key&gt;</code> and send <code>{"method":"subscribe","subscription":{…}}</code>.
An acknowledgement (<code>subscriptionResponse</code>) comes first, then frames whose <code>channel</code> is the
subscription’s type. A minute is charged when it starts, before the acknowledgement. Unknown fields of a subscription are
refused. <b>Send <code>{"method":"ping"}</code> at least every 30 s</b>, whatever else comes: pings of the WebSocket
protocol itself do not count. Who takes whole markets proves that it reads:
<code>{"method":"ping","nonce":"&lt;of the last pong, at first empty&gt;"}</code>, after each 32 KiB too. After a reconnect subscribe again; nothing is sent of what was missed.`

const RPC = `<code>POST /v1/&lt;chain&gt;</code> takes JSON-RPC 2.0, a call or a batch of up to 100, with the key in the
<code>Authorization</code> header and nowhere else. Methods are the node’s own; a call costs a credit unless the operator says
otherwise, errors of a node cost nothing.
<pre>curl -s $URL/v1/hyperliquid -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}'</pre>`

const CLOSES = `<details>
<summary>How a socket ends, and what to do then</summary>
<table>${CLOSE_CODES.map(({ code, why, next }) => `<tr><td>${code}<td>${shown(why)}<td>${shown(next)}`).join('\n')}
</table>
</details>`

/** The whole page, a section per query in the order of their types, then one per channel and per operation. */
export function docsPage(
  queries: readonly AnyQuery[],
  channels: readonly AnyChannel[],
  operations: readonly Operation[],
): string {
  const sections = [...queries].sort((a, b) => (a.type < b.type ? -1 : 1)).map(section)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Weir API</title>
<style>${STYLE}</style>
<h1>Weir API</h1>
<p>${BEGINNING}</p>
<p>${CONTENTS}</p>
<h2 id="info">Info</h2>
<p>${INFO}</p>
${sections.join('\n')}
<h2 id="streams">Streams</h2>
<p>${STREAMS}</p>
${CLOSES}
${channels.map(channelSection).join('\n')}
<h2 id="rpc">JSON-RPC</h2>
<p>${RPC}</p>
<h2 id="platform">Platform</h2>
<p>With an API or a service key, free of charge where nothing else is said.</p>
${operations
  .filter(({ door, product }) => door !== 'admin' && product !== 'data')
  .map(operationSection)
  .join('\n')}
<h2 id="data">Data</h2>
<p>With an API key, as a bearer token or as the user name of basic credentials without a password.</p>
${operations
  .filter(({ product }) => product === 'data')
  .map(operationSection)
  .join('\n')}
<h2 id="operator">Operator</h2>
<p>With <code>Authorization: Bearer &lt;ADMIN_TOKEN&gt;</code>. Unknown fields are refused.</p>
${operations
  .filter(({ door }) => door === 'admin')
  .map(operationSection)
  .join('\n')}
</html>
`
}

function section(query: AnyQuery): string {
  const { type, summary, example } = query
  const request = JSON.stringify({ type, ...example.request })
  return `<details id="${type}">
<summary><code>${type}</code> ${shown(summary)}</summary>
<p><small>Credits: ${shown(priceText(query))}. Source: ${sourceText(query)}. Freshness: ${freshnessText(query)}.</small></p>
<ul>${fieldsOf(query.request).join('')}</ul>
<pre>${escaped(request)}</pre>
<pre>${escaped(JSON.stringify(example.response, null, 2))}</pre>
<details><summary>Schema of the answer</summary>
<pre>${escaped(JSON.stringify(schemaOf(query.response), null, 2))}</pre>
</details>
</details>`
}

function channelSection(channel: AnyChannel): string {
  const { type, summary, example, request } = channel
  return `<details id="ws-${type}">
<summary><code>${type}</code> ${shown(summary)}</summary>
<p><small>Credits: ${shown(minutePriceText(channel))}. Source: ${channelSourceText(channel)}. Snapshot: ${snapshotText(channel)}.</small></p>
<ul>${fieldsOf(request).join('')}</ul>
<pre>${escaped(JSON.stringify({ method: 'subscribe', subscription: { type, ...example.request } }))}</pre>
${exampleFrames(channel)
  .map((each) => `<pre>${escaped(JSON.stringify(each, null, 2))}</pre>`)
  .join('\n')}
<details><summary>Schema of a frame</summary>
<pre>${escaped(JSON.stringify(schemaOf(publishedFrame(channel)), null, 2))}</pre>
</details>
</details>`
}

function operationSection(operation: Operation): string {
  const { id, method, path, summary, body, query, answers } = operation
  const text = operationText(operation)
  const asked = [query, body?.schema].filter((schema) => schema !== undefined)
  const answered = Object.entries(answers).map(
    ([status, { description: what, schema, example }]) =>
      `<p><small>${status}: ${shown(what)}.</small></p>\n<pre>${escaped(JSON.stringify(example, null, 2))}</pre>
<details><summary>Schema of the answer</summary>
<pre>${escaped(JSON.stringify(schemaOf(schema), null, 2))}</pre>
</details>`,
  )
  return `<details id="${id}">
<summary><code>${method.toUpperCase()} ${escaped(path)}</code> ${shown(summary)}</summary>
${text === '' ? '' : `<p>${shown(text)}</p>`}
<ul>${asked.flatMap(fieldsOf).join('')}</ul>
${body === undefined ? '' : `<pre>${escaped(JSON.stringify(body.example))}</pre>`}
${answered.join('\n')}
</details>`
}

/** A line per field of a request. */
function fieldsOf(request: z.ZodType): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(request, { io: 'input' })
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => {
      const must = required.includes(name) ? 'required' : 'optional'
      return `<li><code>${escaped(name)}</code> ${must}: <code>${escaped(JSON.stringify(schema))}</code></li>`
    })
}

function schemaOf(schema: z.ZodType): unknown {
  const { $schema: _, ...own } = z.toJSONSchema(schema, { io: 'input' })
  return own
}

/** A sentence of a document: escaped, its code in the page's letters, without the numbers of rules. */
function shown(text: string): string {
  return escaped(text.replaceAll(/ \(WS-\d+\)/g, '')).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
