// Tables and examples of documents, from the catalogues of channels, types, failures and close codes.

import { FAILURES, type FailureCode } from '../src/core/failure.ts'
import { CLOSE_CODES } from '../src/http/docs/asyncapi.ts'
import {
  channelSourceText,
  exampleFrames,
  fieldsText,
  freshnessText,
  minutePriceText,
  priceText,
  snapshotText,
  sourceText,
} from '../src/http/docs/definition-text.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { infoStatus } from '../src/protocol/failure-wire.ts'
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

/** When a refusal has this code. */
const CODE_MEANINGS: Readonly<Record<FailureCode, string>> = {
  invalid_json: 'not JSON, not UTF-8, nested too deep',
  unsupported_type: 'no such type',
  unauthorized:
    'no key, one where none is read, a malformed, unknown, revoked, replaced or expired one; `msg` says which',
  credits_exhausted: 'less is left than the call costs',
  forbidden: 'the key is not for this product, of the wrong kind, or restricted to other addresses',
  not_found: 'no such endpoint',
  method_not_allowed: 'with `Allow`',
  body_too_large: 'over 64 KiB',
  unsupported_media_type: 'not `application/json`',
  invalid_request: 'a field is wrong, or the exchange refuses it (an unknown `dex` or coin)',
  rate_limited: 'too many requests, look-ups of unknown keys, or uncharged answers',
  internal: 'a bug; quote the request id',
  upstream_failed: 'the sources of this type answered with an error',
  unavailable: 'no source, budget, meter, book or list of keys can be reached now',
  upstream_timeout: 'the source did not answer in time',
}

/** The refusals of `/info`, each code once, by status. */
export function refusalsTable(): string {
  const kinds = Object.keys(FAILURES) as (keyof typeof FAILURES)[]
  const rows = kinds.map((kind) => {
    const { code } = FAILURES[kind]
    return `| ${infoStatus(kind)} | \`${code}\` | ${CODE_MEANINGS[code]} |`
  })
  return ['| Status | `code` | When |', '|---|---|---|', ...[...new Set(rows)].sort()].join('\n')
}
