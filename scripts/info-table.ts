// The table of docs/info.md that lists every info type: types that share source, freshness and price
// share a row.

import { freshnessText, priceText, sourceText } from '../src/docs/query-text.ts'
import { CATALOGUE } from '../src/info/catalogue.ts'

export function infoTable(): string {
  const rows = new Map<string, string[]>()
  for (const query of CATALOGUE) {
    const cells = `${sourceText(query)} | ${freshnessText(query)} | ${priceText(query)}`
    rows.set(cells, [...(rows.get(cells) ?? []), `\`${query.type}\``])
  }
  return [
    `| ${CATALOGUE.length} types | source | freshness | credits |`,
    '|---|---|---|---|',
    ...[...rows].map(([cells, types]) => `| ${types.join(', ')} | ${cells} |`),
  ].join('\n')
}
