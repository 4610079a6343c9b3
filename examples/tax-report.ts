// The tax report of a wallet for a year, as CSV: gains of perps and spot tokens, fees, funding and transfers, with a
// comparison with the exchange's own profits. Gains that cannot be computed are marked, never guessed.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/tax-report.ts 0x… 2026 --method fifo > report.csv

import { parseArgs } from 'node:util'
// In your own project, import from '@weir/client'.
import { createClient, type HistoryType, type InfoFields, type WeirClient } from '../src/client/create-client.client.ts'
import { csvLine } from './tax/csv.ts'
import { METHODS, type Method } from './tax/lots.ts'
import { mergeByTime } from './tax/merge.ts'
import { type LedgerRow, movementOf } from './tax/movements.ts'
import { COLUMNS, type Pair, type Row, TaxBook, type TaxFill } from './tax/tax-book.ts'

const USAGE = `Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/tax-report.ts WALLET YEAR [options] > report.csv
  WALLET, YEAR       address, and a calendar year in UTC
  --method METHOD    order in which spot lots are sold: fifo (default), lifo or average
  --since DATE       read nothing before this date; what was held then has an unknown cost
  --max-credits N    stop when the report has cost this much (1000)`

type Settings = { wallet: string; year: number; method: Method; since: number; maxCredits: number }
type Event = { time: number } & ({ fill: TaxFill } | { ledger: LedgerRow } | { coin: string; usdc: string })

/** Null if the arguments are invalid. */
function settingsOf(args: string[]): Settings | null {
  const text = { type: 'string' as const }
  const options = {
    method: { ...text, default: 'fifo' },
    since: { ...text, default: '1970-01-01' },
    'max-credits': { ...text, default: '1000' },
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [wallet = '', yearText = '', ...more] = positionals
    if (positionals.length < 2 || more.length > 0) return null
    if (!/^0x[\da-f]{40}$/i.test(wallet)) throw new Error('WALLET: use an address, 0x and 40 hex digits')
    const year = Number(yearText)
    if (!/^20\d\d$/.test(yearText)) throw new Error('YEAR: use a year such as 2026')
    const method = METHODS.find((one) => one === values.method)
    if (!method) throw new Error(`--method: use one of ${METHODS.join(', ')}`)
    const since = Date.parse(values.since)
    if (Number.isNaN(since)) throw new Error('--since: use a date such as 2025-01-01')
    const maxCredits = Number(values['max-credits'])
    if (!(maxCredits > 0)) throw new Error('--max-credits: use a positive number')
    return { wallet: wallet.toLowerCase(), year, method, since, maxCredits }
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

async function* rowsOf<T extends HistoryType>(client: WeirClient, type: T, fields: InfoFields<T>) {
  for await (const { data } of client.history(type, fields)) yield* data
}

async function* eventsOf<From, To extends Event>(
  rows: AsyncIterable<From>,
  of: (row: From) => To,
): AsyncGenerator<Event> {
  for await (const row of rows) yield of(row)
}

async function report(client: WeirClient, { wallet: user, year, method, since }: Settings): Promise<void> {
  const from = Date.UTC(year)
  const to = Date.UTC(year + 1) - 1
  const { universe, tokens } = (await client.info('spotMeta')).data
  const names = new Map(tokens.map(({ index, name }) => [index, name]))
  const nameOf = (index: number) => names.get(index) ?? `token ${index}`
  const pairs = new Map<string, Pair>(
    universe.map(({ name, tokens: [base, quote] }) => [name, { base: nameOf(base), quote: nameOf(quote) }]),
  )
  const write = (row: Row) => process.stdout.write(csvLine(COLUMNS.map((name) => row[name] ?? '')))
  const book = new TaxBook(method, pairs, { from, to }, write)
  process.stdout.write(csvLine(COLUMNS))
  const all = { user, startTime: since, endTime: to }
  const events = mergeByTime([
    // Movements come first: a token that arrives in a block can be sold in it.
    eventsOf(rowsOf(client, 'userNonFundingLedgerUpdates', all), (ledger) => ({ time: ledger.time, ledger })),
    eventsOf(rowsOf(client, 'userFillsByTime', all), (fill) => ({ time: fill.time, fill })),
    eventsOf(rowsOf(client, 'userFunding', { ...all, startTime: Math.max(since, from) }), ({ time, delta }) => ({
      time,
      coin: String(delta.coin),
      usdc: String(delta.usdc),
    })),
  ])
  for await (const event of events) {
    if ('fill' in event) book.fill(event.fill)
    else if ('coin' in event) book.funding(event.time, event.coin, event.usdc)
    else {
      const movement = movementOf(event.ledger, user)
      if (movement) book.movement(event.time, event.ledger.hash, movement)
    }
  }
  for (const row of [...book.holdings(), ...book.summary()]) write(row)
  for (const gap of book.gaps) console.error(`unknown: ${gap}`)
  for (const { event, note } of book.summary()) if (note) console.error(`${event}: ${note}`)
}

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const settings = settingsOf(process.argv.slice(2))
if (!url || !key || !settings) {
  console.error(USAGE)
  process.exit(2)
}
const { maxCredits } = settings
console.error(
  `By default, a page costs 1 credit: 2,000 fills, 500 payments or 500 transfers. Limit: ${maxCredits} credits`,
)

let spent = 0
const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
// A reader that has seen enough, such as `head`, closes the pipe.
process.stdout.on('error', () => process.exit(1))
const client = createClient({
  url,
  key,
  signal: ended.signal,
  async fetch(...request) {
    if (spent >= maxCredits) throw new Error(`${spent} credits are spent; use a higher --max-credits`)
    const response = await fetch(...request)
    spent += Number(response.headers.get('x-credits-cost') ?? 0)
    return response
  },
})
await report(client, settings).catch((error: Error) => {
  console.error(`The report is incomplete: ${error.message}`)
  process.exitCode = 1
})
console.error(`cost: ${spent} credits`)
client.close()
