// `weir books --for … --coin … --day …`: writes archived order books as files for backtests. Invariant: until the user has
// accepted the price, nothing is charged.

import { resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import { valueParser } from '../core/command-line.node.ts'
import { nearestName } from '../core/nearest.ts'
import { err, ok, type Result } from '../core/result.ts'
import { DAY_MS, HOUR_MS } from '../core/time.ts'
import { type HistoryCost, type HistoryGateway, historyCost } from './backfill/gateway-history.node.ts'
import { SourceError } from './backfill/read-blocks.ts'
import { type BookFile, type CoinDay, EXPORT_FORMATS, type ExportFormat } from './books/book-file.ts'
import { gatewayTape } from './books/gateway-tape.node.ts'
import { checkpointSpans, HistoryTape, minuteOf, type TimeRange } from './books/history-tape.ts'
import { nautilusFile } from './books/nautilus-file.node.ts'
import { npzFile } from './books/npz-file.node.ts'
import { parquetFile } from './books/parquet-file.node.ts'
import { type WrittenFile, writeBooks } from './books/write-books.ts'
import { type Shell, weirProgram } from './shell.node.ts'
import { DayValue, TimeValue, UrlValue } from './values.ts'

const MB = 1_000_000
const RETRY_MS = 1_000

interface Format {
  readonly open: (folder: string, of: CoinDay) => BookFile
  readonly hasTrades: boolean
}

const FORMATS: Readonly<Record<ExportFormat, Format>> = {
  parquet: { open: parquetFile, hasTrades: false },
  hftbacktest: { open: npzFile, hasTrades: true },
  nautilus: { open: nautilusFile, hasTrades: false },
}

interface Options {
  readonly for: ExportFormat
  readonly coin: readonly string[]
  readonly day?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly out: string
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly chain: string
  readonly yes?: true | undefined
}

export function booksProgram(shell: Shell, retryMs = RETRY_MS): Command {
  const command = weirProgram('books', [
    '--for parquet --coin BTC --day 2026-11-28 --yes',
    '--for hftbacktest --coin BTC --coin ETH --from 2026-11-28T12:00Z --to 2026-11-28T14:00Z --out books',
  ])
  command
    .addOption(new Option('--for <format>', 'format of the files').choices(EXPORT_FORMATS).makeOptionMandatory())
    .requiredOption(
      '--coin <coin>',
      'market, such as BTC or @107; repeat it for more',
      (coin: string, more: string[] = []) => [...more, coin],
    )
    .option('--day <day>', 'UTC day, such as 2026-11-28', valueParser(DayValue))
    .option('--from <time>', 'first time, instead of --day', valueParser(TimeValue))
    .option('--to <time>', 'last time, inclusive', valueParser(TimeValue))
    .option('--out <folder>', 'folder for the files', 'books')
    .option('--url <url>', 'gateway URL (default: WEIR_URL)', valueParser(UrlValue))
    .option('--key <key>', 'API key with product data; prefer WEIR_KEY in the environment')
    .option('--chain <name>', 'chain of the gateway', 'hyperliquid')
    .option('--yes', 'accept the price')
    .action(async (options) => {
      const written = await exportBooks(options as Options, shell, retryMs).catch((error: unknown) => {
        if (error instanceof SourceError) return err(error.message)
        throw error
      })
      if (written.ok) return
      shell.note(written.error)
      shell.fail()
    })
  return command as Command
}

async function exportBooks(options: Options, shell: Shell, retryMs: number): Promise<Result<null, string>> {
  const { url = shell.env.WEIR_URL, key = shell.env.WEIR_KEY, chain } = options
  if (!url || !key) return err('Set WEIR_URL and WEIR_KEY in the environment, or pass --url and --key.')
  const range = rangeOf(options)
  if (!range.ok) return range
  const gateway = { url, key, chain }
  const { hasTrades, open } = FORMATS[options.for]
  const price = await priceText(gateway, range.value, hasTrades, shell.now())
  if (options.yes !== true) return err(`${price} Nothing was fetched. Pass --yes to accept the price.`)
  shell.note(price)
  let credits = 0
  const addCost = (cost: number) => {
    credits += cost
  }
  const source = gatewayTape(gateway, addCost, retryMs)
  const coins = new Set(options.coin)
  const tape = new HistoryTape(source, { ...range.value, coins, hasTrades })
  const known = await tape.open()
  const unknown = known && options.coin.find((coin) => !known.includes(coin))
  if (known && unknown) return err(unknownText(unknown, known))
  const folder = resolve(options.out)
  const progress = (timeMs: number) => shell.note(`Reached ${new Date(timeMs).toISOString()}.`)
  const written = await writeBooks(tape.events(), (of) => open(folder, of), progress)
  return report(written, tape, credits, shell)
}

function unknownText(coin: string, known: readonly string[]): string {
  const meant = nearestName(coin, known)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return `${coin} has no book at the start of the range${hint}. If it was listed later, start the range after that.`
}

function report(
  written: readonly WrittenFile[],
  { last }: HistoryTape,
  credits: number,
  shell: Shell,
): Result<null, string> {
  if (last === null) return err('The archive has no blocks in this range.')
  for (const { path, rows, gaps } of written)
    shell.print(`${path}  ${rows} rows${gaps > 0 ? `, ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}` : ''}`)
  shell.note(`The last block is ${last.height} of ${new Date(last.time).toISOString()}.`)
  shell.note(`The links cost ${Number(credits.toFixed(6))} credits.`)
  return ok(null)
}

function rangeOf({ day, from, to }: Options): Result<TimeRange, string> {
  if (day !== undefined && (from !== undefined || to !== undefined))
    return err('Pass either --day, or --from and --to.')
  if (day !== undefined) return ok({ fromMs: Date.parse(day), toMs: Date.parse(day) + DAY_MS - 1 })
  if (from === undefined || to === undefined) return err('Pass --day, or both --from and --to.')
  return to < from ? err('--to is before --from. Swap them.') : ok({ fromMs: from, toMs: to })
}

/** The price of the same lists that the tape requests. */
async function priceText(
  gateway: HistoryGateway,
  range: TimeRange,
  hasTrades: boolean,
  nowMs: number,
): Promise<string> {
  const { toMs } = range
  const firstMs = minuteOf(range.fromMs)
  const costs: HistoryCost[] = []
  let startMs = firstMs
  for (const span of checkpointSpans(range)) {
    const checkpoints = await historyCost(gateway, ['checkpoints'], span)
    costs.push(checkpoints)
    if (checkpoints.objects === 0) continue
    startMs = minuteOf(span.fromMs)
    break
  }
  costs.push(await historyCost(gateway, ['books'], { fromMs: startMs, toMs }))
  if (hasTrades) costs.push(await historyCost(gateway, ['events'], { fromMs: firstMs, toMs }))
  const credits = costs.reduce((sum, cost) => sum + cost.credits, 0)
  const bytes = costs.reduce((sum, cost) => sum + cost.bytes, 0)
  const more = toMs > nowMs - HOUR_MS ? ' and what is archived from now on' : ''
  return `This export fetches at most ${(bytes / MB).toFixed(1)} MB for ${Math.ceil(credits)} credits, plus a checkpoint after each gap${more}.`
}
