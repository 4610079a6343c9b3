// The table of docs/info.md that lists every info type, with what it takes and what it costs.

import { fieldsText, freshnessText, priceText, sourceText } from '../src/docs/query-text.ts'
import { CATALOGUE } from '../src/info/catalogue.ts'

export function infoTable(): string {
  return [
    `| ${CATALOGUE.length} types | what it answers | fields | source | freshness | credits |`,
    '|---|---|---|---|---|---|',
    ...CATALOGUE.map((query) => {
      const cells = [query.summary, fieldsText(query), sourceText(query), freshnessText(query), priceText(query)]
      return `| \`${query.type}\` | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}
