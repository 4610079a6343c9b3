// Generates tables for documents from the catalogs of channels, types, close codes and calls.

import { formatCredits } from '../src/core/amount.ts'
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
import { ENDPOINTS } from '../src/http/platform/catalogue.ts'
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
    '| any other | | Reconnect with backoff |',
  ].join('\n')
}

/** Calls for an account, except those for pipelines and data. */
export const platformCallsTable = () =>
  callsTable(({ auth, product, path }) => auth !== 'admin' && product !== 'data' && !path.includes('/pipeline-api/'))

export const pipelineCallsTable = () => callsTable(({ path }) => path.startsWith('/platform/pipeline-api/'))

export const dataCallsTable = () => callsTable(({ auth, product }) => auth !== 'admin' && product === 'data')

function callsTable(isListed: (operation: (typeof ENDPOINTS)[number]) => boolean): string {
  return [
    '| Call | Content | Key | Credits |',
    '|---|---|---|---|',
    ...ENDPOINTS.filter(isListed).map(
      ({ method, path, summary, auth, price = 0, priceText = formatCredits(price) }) => {
        const key = auth === 'service' ? 'service key' : 'any'
        return `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${key} | ${priceText === '0' ? 'free' : priceText} |`
      },
    ),
  ].join('\n')
}
