// Extracts the order statuses of wanted wallets and coins from a line that has those of all wallets. Invariant: the
// result equals that of parsing the whole line, but only wanted rows are parsed.

import { parseJson } from '../core/json.ts'
import { ok, type Result } from '../core/result.ts'
import { readEvents } from './streams.ts'

/** The start of an event as the node writes it: time, then wallet. */
const EVENTS = '"events":['
const TIME = '{"time":"'
const USER = '","user":"'
const ANY_USER = '"user":"'
const NEXT = `},${TIME}`
const WALLET_UNITS = 42
/** The string between the wallet and the coin. */
const COIN =
  /","hash":(?:null|"\w*"),"builder":(?:null|\{"b":"\w*","f":\d+\}),"status":"\w*","order":\{"coin":"([^"\\]*)"/y
/** Characters scanned per step. Scanning them takes at most a few milliseconds. */
const STEP_UNITS = 512 * 1024

/** Wallets (lower case) and coins whose order statuses are wanted. */
interface StatusInterests {
  readonly wallets: ReadonlySet<string>
  readonly coins: ReadonlySet<string>
}

/** Wanted rows in the node's order. `byCoin` has an entry for each wanted coin that has rows. */
export interface MatchedRows {
  readonly byWallet: unknown[]
  readonly byCoin: Map<string, unknown[]>
}

/** Extracts the rows from a line. Yields between steps. */
export function* filterStatuses(
  text: string,
  interests: StatusInterests,
): Generator<void, Result<MatchedRows, string>> {
  const { wallets, coins } = interests
  const end = text.length - ']}'.length
  const found: MatchedRows = { byWallet: [], byCoin: new Map() }
  let units = 0
  let at = text.indexOf(EVENTS) + EVENTS.length
  if (!text.endsWith(']}')) return filterParsed(text, interests)
  while (at < end) {
    const user = text.indexOf(USER, at) + USER.length
    if (!text.startsWith(TIME, at) || text.indexOf('"', at + TIME.length) !== user - USER.length)
      return filterParsed(text, interests)
    const next = text.indexOf(NEXT, user)
    const after = next < 0 ? end : next + 1
    // If there is a second wallet before the next row, the row has a different form.
    const another = text.indexOf(ANY_USER, user)
    if (another >= 0 && another < after) return filterParsed(text, interests)
    const coin = coins.size === 0 ? '' : coinAt(text, user + WALLET_UNITS)
    if (coin === null) return filterParsed(text, interests)
    if (wallets.has(text.slice(user, user + WALLET_UNITS)) || coins.has(coin)) {
      const row = parseJson(text.slice(at, after))
      if (row === undefined) return filterParsed(text, interests)
      if (coins.has(coin) && coinOf(row) !== coin) return filterParsed(text, interests)
      addRow(found, row, interests)
    }
    units += after - at
    at = after + 1
    if (units < STEP_UNITS) continue
    units = 0
    yield
  }
  return ok(found)
}

/** The coin of the row whose wallet ends at `end`; null if the row has a different form. */
function coinAt(text: string, end: number): string | null {
  COIN.lastIndex = end
  return COIN.exec(text)?.[1] ?? null
}

const userOf = (row: unknown) => (row as { user?: unknown } | null)?.user
const coinOf = (row: unknown) => (row as { order?: { coin?: unknown } | null } | null)?.order?.coin

function addRow({ byWallet, byCoin }: MatchedRows, row: unknown, { wallets, coins }: StatusInterests): void {
  if (wallets.has(userOf(row) as string)) byWallet.push(row)
  const coin = coinOf(row) as string
  if (!coins.has(coin)) return
  const rows = byCoin.get(coin)
  if (rows) rows.push(row)
  else byCoin.set(coin, [row])
}

/** Parses a line whose form differs from what nodes write today. */
function filterParsed(text: string, interests: StatusInterests): Result<MatchedRows, string> {
  const read = readEvents(text)
  if (!read.ok) return read
  const found: MatchedRows = { byWallet: [], byCoin: new Map() }
  for (const row of read.value) addRow(found, row, interests)
  return ok(found)
}
