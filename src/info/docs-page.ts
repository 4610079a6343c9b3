// The info API as a page for people, from the same definitions as the OpenAPI document. Plain HTML: no script, nothing
// from elsewhere, searchable with the browser's own search. Every value is escaped.

import * as z from 'zod'
import type { AnyQuery } from './query.ts'
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

/** The whole page, a section per query in the order of their types. */
export function docsPage(queries: readonly AnyQuery[]): string {
  const sections = [...queries].sort((a, b) => (a.type < b.type ? -1 : 1)).map(section)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Weir info API</title>
<style>${STYLE}</style>
<h1>Weir info API</h1>
<p>${INTRODUCTION}</p>
${sections.join('\n')}
</html>
`
}

function section(query: AnyQuery): string {
  const { type, summary, example } = query
  const request = JSON.stringify({ type, ...example.request })
  return `<details id="${type}">
<summary><code>${type}</code> ${escaped(summary)}</summary>
<p><small>Credits: ${escaped(priceText(query))}. Source: ${sourceText(query)}. Freshness: ${freshnessText(query)}.</small></p>
<ul>${fieldsOf(query).join('')}</ul>
<pre>${escaped(request)}</pre>
<pre>${escaped(JSON.stringify(example.response, null, 2))}</pre>
<details><summary>Schema of the answer</summary>
<pre>${escaped(JSON.stringify(schemaOf(query.response), null, 2))}</pre>
</details>
</details>`
}

/** A line per field of the request. */
function fieldsOf({ request }: AnyQuery): string[] {
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
