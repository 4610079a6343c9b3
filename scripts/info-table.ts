// The table of the README that lists every info type of the interface: types that share source, freshness and price
// share a row. Stands between two markers.

import { CATALOGUE, isPlanned, queryOf } from '../src/info/catalogue.ts'
import { freshnessText, priceText, sourceText } from '../src/info/query-text.ts'
import { SPECIFIED_TYPES } from '../src/info/specified-types.ts'

const BEGIN = '<!-- info types -->'
const END = '<!-- /info types -->'
const PLANNED = 'planned: needs a history of fills | – | –'

/** The README with a fresh table; unchanged where it has no markers, which a test tells. */
export function withInfoTable(readme: string): string {
  const [before, rest] = split(readme, BEGIN)
  const [, after] = split(rest ?? '', END)
  return rest === undefined || after === undefined ? readme : `${before}${BEGIN}\n${infoTable()}\n${END}${after}`
}

function infoTable(): string {
  const rows = new Map<string, string[]>()
  for (const type of SPECIFIED_TYPES) {
    const query = queryOf(type)
    const cells = query ? `${sourceText(query)} | ${freshnessText(query)} | ${priceText(query)}` : PLANNED
    rows.set(cells, [...(rows.get(cells) ?? []), `\`${type}\``])
  }
  const planned = SPECIFIED_TYPES.filter(isPlanned).length
  return [
    `| ${CATALOGUE.length} types of ${CATALOGUE.length + planned} | source | freshness | credits |`,
    '|---|---|---|---|',
    ...[...rows]
      .sort(([a], [b]) => Number(a === PLANNED) - Number(b === PLANNED))
      .map(([cells, types]) => `| ${types.join(', ')} | ${cells} |`),
  ].join('\n')
}

function split(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at)
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)]
}
