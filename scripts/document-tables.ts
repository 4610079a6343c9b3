// Tables of documents, from the catalogues of channels, types and close codes.

import { CLOSE_CODES } from '../src/http/docs/asyncapi.ts'
import {
  channelSourceText,
  fieldsText,
  freshnessText,
  minutePriceText,
  priceText,
  snapshotText,
  sourceText,
} from '../src/http/docs/definition-text.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { CHANNELS } from '../src/relay/channels/catalogue.ts'

export function channelTable(): string {
  return [
    '| Channel | Content | Source | First frame | Credits |',
    '|---|---|---|---|---|',
    ...CHANNELS.map((channel) => {
      const cells = [channel.summary, channelSourceText(channel), snapshotText(channel), minutePriceText(channel)]
      return `| \`${channel.type}\` | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

export function infoTable(): string {
  return [
    `| ${CATALOGUE.length} types | Content | Fields | Source | Freshness | Credits |`,
    '|---|---|---|---|---|---|',
    ...CATALOGUE.map((query) => {
      const cells = [query.summary, fieldsText(query), sourceText(query), freshnessText(query), priceText(query)]
      return `| \`${query.type}\` | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

export function closeCodesTable(): string {
  return [
    '| Code | Cause | Fix |',
    '|---|---|---|',
    ...CLOSE_CODES.map(({ code, why, next }) => `| ${code} | ${why} | ${next} |`),
    '| any other | | connect again with backoff |',
  ].join('\n')
}
