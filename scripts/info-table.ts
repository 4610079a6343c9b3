// The table of docs/info.md that lists every info type of the interface: types that share source, freshness and price
// share a row.

import { freshnessText, priceText, sourceText } from '../src/docs/query-text.ts'
import { queryOf } from '../src/info/catalogue.ts'
import { SPECIFIED_TYPES } from '../src/info/specified-types.ts'

export function infoTable(): string {
  const rows = new Map<string, string[]>()
  for (const type of SPECIFIED_TYPES) {
    const query = queryOf(type)!
    const cells = `${sourceText(query)} | ${freshnessText(query)} | ${priceText(query)}`
    rows.set(cells, [...(rows.get(cells) ?? []), `\`${type}\``])
  }
  return [
    `| ${SPECIFIED_TYPES.length} types | source | freshness | credits |`,
    '|---|---|---|---|',
    ...[...rows].map(([cells, types]) => `| ${types.join(', ')} | ${cells} |`),
  ].join('\n')
}
