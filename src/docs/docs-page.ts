// The HTTP surfaces as a page for people, from the same definitions as the OpenAPI document. Plain HTML: no script, nothing
// from elsewhere, searchable with the browser's own search. Every value is escaped.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import type { AnyQuery } from '../info/query.ts'
import type { AnyChannel } from '../stream/channel.ts'
import { channelSourceText, minutePriceText, snapshotText } from './channel-text.ts'
import { operationText } from './operation-text.ts'
import { freshnessText, priceText, sourceText } from './query-text.ts'

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
details { border-top: 1px solid #8884; padding: .5rem 0 }
summary { cursor: pointer }
pre { overflow: auto; padding: .75rem; background: #8881; font-size: 13px }
code { font: 14px ui-monospace, monospace }
small { opacity: .75 }`

const INTRODUCTION = `Every query is <code>POST /info</code> with <code>Authorization: Bearer &lt;key&gt;</code> and
<code>Content-Type: application/json</code>; <code>type</code> selects it. Prices and sizes are decimal strings, times are
Unix milliseconds. Unknown fields of a request are ignored; answers may gain fields. Only a 2xx costs credits.
For programs: <a href="/openapi.json">/openapi.json</a>.`

const STREAMS = `On <code>/ws?key=&lt;key&gt;</code> send
<code>{"method":"subscribe","subscription":{…}}</code>; a minute is charged when it starts, before the acknowledgement.
Unknown fields of a subscription are refused. For programs: <a href="/asyncapi.json">/asyncapi.json</a>.`

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
<h2>Info</h2>
<p>${INTRODUCTION}</p>
${sections.join('\n')}
<h2>Streams</h2>
<p>${STREAMS}</p>
${channels.map(channelSection).join('\n')}
<h2>Platform</h2>
<p>With an API or a service key, free of charge where nothing else is said.</p>
${operations
  .filter(({ door }) => door !== 'admin')
  .map(operationSection)
  .join('\n')}
<h2>Operator</h2>
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
<summary><code>${type}</code> ${escaped(summary)}</summary>
<p><small>Credits: ${escaped(priceText(query))}. Source: ${sourceText(query)}. Freshness: ${freshnessText(query)}.</small></p>
<ul>${fieldsOf(query.request).join('')}</ul>
<pre>${escaped(request)}</pre>
<pre>${escaped(JSON.stringify(example.response, null, 2))}</pre>
<details><summary>Schema of the answer</summary>
<pre>${escaped(JSON.stringify(schemaOf(query.response), null, 2))}</pre>
</details>
</details>`
}

function channelSection(channel: AnyChannel): string {
  const { type, summary, example, request, frame } = channel
  return `<details id="ws-${type}">
<summary><code>${type}</code> ${escaped(summary)}</summary>
<p><small>Credits: ${escaped(minutePriceText(channel))}. Source: ${channelSourceText(channel)}. Snapshot: ${snapshotText(channel)}.</small></p>
<ul>${fieldsOf(request).join('')}</ul>
<pre>${escaped(JSON.stringify({ type, ...example.request }))}</pre>
<pre>${escaped(JSON.stringify(example.frame, null, 2))}</pre>
<details><summary>Schema of a frame</summary>
<pre>${escaped(JSON.stringify(schemaOf(frame), null, 2))}</pre>
</details>
</details>`
}

function operationSection(operation: Operation): string {
  const { id, method, path, summary, body, query, answers } = operation
  const text = operationText(operation)
  const asked = [query, body?.schema].filter((schema) => schema !== undefined)
  const answered = Object.entries(answers).map(
    ([status, { description: what, schema, example }]) =>
      `<p><small>${status}: ${escaped(what)}.</small></p>\n<pre>${escaped(JSON.stringify(example, null, 2))}</pre>
<details><summary>Schema of the answer</summary>
<pre>${escaped(JSON.stringify(schemaOf(schema), null, 2))}</pre>
</details>`,
  )
  return `<details id="${id}">
<summary><code>${method.toUpperCase()} ${escaped(path)}</code> ${escaped(summary)}</summary>
${text === '' ? '' : `<p>${escaped(text)}</p>`}
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

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
