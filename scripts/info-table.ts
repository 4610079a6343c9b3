// The table of the README that lists every info type of the interface: types that share source, freshness and price
// share a row. Stands between two markers.

import { freshnessText, priceText, sourceText } from '../src/docs/query-text.ts'
import { queryOf } from '../src/info/catalogue.ts'
import { SPECIFIED_TYPES } from '../src/info/specified-types.ts'

const BEGIN = '<!-- info types -->'
const END = '<!-- /info types -->'

/** The README with a fresh table; unchanged where it has no markers, which a test tells. */
export function withInfoTable(readme: string): string {
  const [before, rest] = split(readme, BEGIN)
  const [, after] = split(rest ?? '', END)
  return rest === undefined || after === undefined ? readme : `${before}${BEGIN}\n${infoTable()}\n${END}${after}`
}

function infoTable(): string {
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

function split(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at)
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + at.length)]
}
