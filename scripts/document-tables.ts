// Generates tables for documents from the catalogs of channels, types, close codes and calls.

import { readFileSync } from 'node:fs'
import { LIMIT_FIELDS, type Limits } from '../src/accounts/limits.ts'
import { FILE_PRICE } from '../src/archive/exports/file-list.ts'
import { formatCredits } from '../src/core/amount.ts'
import { inGroups } from '../src/core/digit-groups.ts'
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
import { failureRows } from '../src/http/docs/failure-text.ts'
import { ENDPOINTS } from '../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { PLANS, type PlanTerms } from '../src/metering/plans/plan.ts'
import { ONE_CREDIT, TEST_PRICE } from '../src/metering/tariff.ts'
import { metricFamilies } from '../src/monitor/metric-families.ts'
import { reportedName } from '../src/monitor/metric-report.ts'
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

/** Negative numbers have a minus sign, as in text. */
const signed = (number: number) => String(number).replace('-', '−')

export function errorCodesTable(): string {
  return [
    '| `code` | `/info` | REST | JSON-RPC | Cause | Fix |',
    '|---|---|---|---|---|---|',
    ...failureRows().map(({ code, info, http, rpc, cause, fix }) => {
      return `| \`${code}\` | ${info} | ${http} | ${signed(rpc)} | ${cause} | ${fix} |`
    }),
  ].join('\n')
}

/** Definitions whose price differs from the usual one, by price: `10 for …`. */
function exceptionsText(prices: readonly (readonly [name: string, price: string])[], usual: string): string {
  const others = Object.entries(Object.groupBy(prices, ([, price]) => price)).filter(([price]) => price !== usual)
  return others
    .map(([price, named = []]) => `${price} for ${named.map(([name]) => `\`${name}\``).join(', ')}`)
    .join('. ')
}

/** Default of a setting of the Workers. */
function settingOf(file: string, name: string): string {
  const [, value] =
    new RegExp(`^${name} = "(.*)"$`, 'm').exec(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) ?? []
  if (value === undefined) throw new Error(`${file} does not set ${name}`)
  return value
}

/** Prices by kind of call, from the definitions of types, channels and calls. */
export function pricesTable(): string {
  const one = formatCredits(ONE_CREDIT)
  const types = CATALOGUE.map((query) => [query.type, priceText(query)] as const)
  const channels = CHANNELS.map((channel) => [channel.type, minutePriceText(channel)] as const)
  const balances = ENDPOINTS.find(({ id }) => id === 'balances')?.price ?? 0
  const [row, minute] = ['PIPELINE_ROW_CREDITS', 'PIPELINE_MINUTE_CREDITS'].map((name) =>
    settingOf('wrangler.jobs.toml', name),
  )
  return [
    '| Usage | Credits |',
    '|---|---|',
    `| \`POST /info\` | ${one} for most types. [All types](info.md#types) lists each price. ${exceptionsText(types, one)} |`,
    `| WebSocket or GraphQL subscription | ${one} per minute for most channels. [All channels](websocket.md#channels) lists each price. ${exceptionsText(channels, `${one} per minute`)} |`,
    '| Replay | The price of the subscription, for each minute of data |',
    `| JSON-RPC call | ${one}, unless the operator sets a different price for the method |`,
    `| Balances of a wallet | ${formatCredits(balances)} |`,
    `| History files | ${FILE_PRICE} |`,
    `| Pipeline row; minute in which a pipeline runs; test of a pipeline | ${row}; ${minute}; ${formatCredits(TEST_PRICE)}. See [row prices](pipelines.md#row-prices) |`,
    '| Tool of the [MCP server](../guides/use-from-an-ai-agent.md) | The price of its requests |',
    '| Call without a key, [paid by a wallet](../guides/pay-per-call.md) | A price in US dollars, which `GET /x402` lists |',
    '| `/platform`, `/status`, documentation | free |',
  ].join('\n')
}

const plans = Object.values(PLANS)
const planRow = (name: string, cells: readonly string[]) => `| ${name} | ${cells.join(' | ')} |`
const planHead = [`| | ${plans.map(({ name }) => name).join(' | ')} |`, `|${'---|'.repeat(plans.length + 1)}`]

function planCredits({ micro, period, days }: PlanTerms): string {
  if (micro === 0) return `a ${period === 'month' ? 'monthly ' : ''}amount by agreement`
  const credits = inGroups(Number(formatCredits(micro)))
  if (period === 'month') return `${credits} a month`
  return `${credits} once${days === null ? '' : `, for ${days} days`}`
}

/** Credits of the initial plans. */
export const planCreditsTable = () =>
  [
    ...planHead,
    planRow(
      '`credits`',
      plans.map(({ terms }) => planCredits(terms)),
    ),
  ].join('\n')

/** Limits of the initial plans. */
export function planLimitsTable(): string {
  const order = ['infoRequestsPerSecond', ...Object.keys(LIMIT_FIELDS)] as (keyof Limits)[]
  const rows = [...new Set(order)].map((limit) => {
    const numbers = plans.map(({ limits }) => limits[limit])
    return planRow(
      `\`${LIMIT_FIELDS[limit]}\``,
      numbers.map((number) => (number === null ? 'no limit' : inGroups(number))),
    )
  })
  return [...planHead, ...rows].join('\n')
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

const NO_SCRAPE = { v: 1, nowMs: 0, sums: [], gauges: [], status: null }

/** Every family of `/metrics`. */
export function metricsTable(): string {
  const rows = metricFamilies(NO_SCRAPE, { sources: [] }).map(
    (family) => `| \`${reportedName(family)}\` | ${family.type} | ${family.help} |`,
  )
  return ['| Metric | Type | Meaning |', '|---|---|---|', ...rows].join('\n')
}
