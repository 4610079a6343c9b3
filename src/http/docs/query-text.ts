// What people read about a query, in the published document and in docs/info.md, derived from its definition.

import * as z from 'zod'
import { formatCredits } from '../../core/amount.ts'
import { termsOf } from '../../info/freshness.ts'
import { type AnyQuery, asksHistory, asksUpstream, priceOf } from '../../info/query.ts'

/** Where its answers come from. */
export function sourceText(query: AnyQuery): string {
  if (asksUpstream(query)) return asksHistory(query) ? 'own history, else upstream' : 'upstream'
  return asksHistory(query) ? 'own history' : 'own books'
}

/** How old its answers may be. */
export function freshnessText({ freshness }: AnyQuery): string {
  const { freshMs, revalidateMs } = termsOf(freshness)
  if (freshness.class === 'none') return 'present state, never kept'
  if (freshMs === 0) return 'asked every call'
  const age = freshMs < 1_000 ? `${freshMs} ms` : `${freshMs / 1_000} s`
  return revalidateMs > 0 ? `${age}, then stale while revalidating` : `at most ${age}`
}

/** The fields beside `type`, those that may be left out with a question mark; `none` where it takes none. */
export function fieldsText({ request }: AnyQuery): string {
  return fieldsOf(z.toJSONSchema(request, { io: 'input' })) || 'none'
}

function fieldsOf({ properties = {}, required = [] }: z.core.JSONSchema.BaseSchema): string {
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, field]) => {
      const inner = typeof field === 'object' && field.properties ? ` of ${fieldsOf(field)}` : ''
      return `\`${name}${required.includes(name) ? '' : '?'}\`${inner}`
    })
    .join(', ')
}

/** Its price in credits, with that of a wildcard where it has one. */
export function priceText(query: AnyQuery): string {
  const [plain, wildcard] = prices(query).map((amount) => formatCredits(amount))
  return wildcard === undefined ? `${plain}` : `${plain}, ${wildcard} flat for \`dex\` \`*\` or \`ALL_DEXES\``
}

/** Micro-credits for one DEX, and for all of them where that is dearer. */
function prices(query: AnyQuery): readonly number[] {
  const priceAt = (more: object) => priceOf(query, query.request.parse({ type: query.type, ...more }))
  if (typeof query.price === 'number') return [query.price]
  const { request } = query.example
  return [priceAt(request), priceAt({ ...request, dex: 'ALL_DEXES' })]
}
