// Tables and examples of documents, from the catalogues of channels, types and close codes.

import { channelSourceText, exampleFrames, minutePriceText, snapshotText } from '../src/http/docs/channel-text.ts'
import { CLOSE_CODES } from '../src/http/docs/close-codes.ts'
import { fieldsText, freshnessText, priceText, sourceText } from '../src/http/docs/query-text.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { CHANNELS } from '../src/relay/channels/catalogue.ts'

export function channelTable(): string {
  return [
    '| Channel | What it brings | From | Before the first change | Credits |',
    '|---|---|---|---|---|',
    ...CHANNELS.map((channel) => {
      const cells = [channel.summary, channelSourceText(channel), snapshotText(channel), minutePriceText(channel)]
      return `| \`${channel.type}\` | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

/** A block for each channel: what is sent, then what comes. */
export function channelExamples(): string {
  return CHANNELS.map((channel) => {
    const { type, example } = channel
    const asked = { method: 'subscribe', subscription: { type, ...example.request } }
    return `\`${type}\`\n\n${jsonBlock([asked, ...exampleFrames(channel)])}`
  }).join('\n\n')
}

function jsonBlock(frames: readonly unknown[]): string {
  return `\`\`\`json\n${frames.map((frame) => JSON.stringify(frame)).join('\n')}\n\`\`\``
}

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

export function closeCodesTable(): string {
  return [
    '| Code | Why | What to do |',
    '|---|---|---|',
    ...CLOSE_CODES.map(({ code, why, next }) => `| ${code} | ${why} | ${next} |`),
    '| any other | | connect again with backoff |',
  ].join('\n')
}
