// The crowd for a checkpoint: what is much, as bytes, since copying columns takes milliseconds where text would take
// seconds. Orders stand in no particular order; their places follow from price and id. Byte order is the machine's own:
// a checkpoint never travels.

import type { Crowd } from './crowd-state.ts'
import type { Exchange } from './exchange.ts'
import type { PrngState } from './prng.ts'
import { emptyWallet, type Wallet } from './wallet.ts'

/** What of the crowd is little. */
export interface CrowdHead {
  readonly rng: PrngState
  /** Slots of the columns, and amounts of all wallets. */
  readonly slots: number
  readonly amounts: number
  /** Of its wallets, in order. */
  readonly addresses: readonly string[]
}

/** Four doubles, an int and two shorts. */
const SLOT_BYTES = 40

const walletsOf = (x: Exchange, { first, wallets }: Crowd) => x.accounts.slice(first, first + wallets)

/** Null where the exchange has no crowd. */
export function crowdHead(x: Exchange): CrowdHead | null {
  if (x.crowd === null) return null
  const wallets = walletsOf(x, x.crowd)
  return {
    rng: x.crowd.rng.state(),
    slots: x.crowd.orders.slots,
    amounts: wallets.reduce((sum, wallet) => sum + widthOf(wallet), 0),
    addresses: wallets.map(({ address }) => address),
  }
}

/** What is much of it, in parts that belong one behind another; null where the exchange has no crowd. */
export function encodeCrowd(x: Exchange): Uint8Array[] | null {
  if (x.crowd === null) return null
  const wallets = walletsOf(x, x.crowd)
  const amounts = new BigInt64Array(wallets.reduce((sum, wallet) => sum + widthOf(wallet), 0))
  let width = 0
  for (const wallet of wallets) width = writeAmounts(wallet, amounts, width)
  return [amounts, ...Object.values(x.crowd.orders.columns())].map(({ buffer }) => new Uint8Array(buffer))
}

/** Opens the crowd's wallets as they were, and its orders. */
export function decodeCrowd(x: Exchange, head: CrowdHead, bytes: Uint8Array): void {
  const whole = new Uint8Array(bytes).buffer
  if (whole.byteLength !== head.amounts * 8 + head.slots * SLOT_BYTES)
    throw new Error('the checkpoint of the crowd is cut off')
  const amounts = new BigInt64Array(whole, 0, head.amounts).values()
  for (const address of head.addresses) openWallet(x, emptyWallet(x.accounts.length, address, x.scale), amounts)
  let at = head.amounts * 8
  const column = <T>(type: new (buffer: ArrayBuffer, at: number, length: number) => T, width: number): T => {
    at += head.slots * width
    return new type(whole, at - head.slots * width, head.slots)
  }
  const doubles = () => column(Float64Array, 8)
  const sz = doubles()
  const origSz = doubles()
  const oid = doubles()
  const timeMs = doubles()
  const px = column(Int32Array, 4)
  const owner = column(Uint16Array, 2)
  const book = column(Uint16Array, 2)
  const { orders } = x.crowd!
  for (let i = 0; i < head.slots; i++)
    if (oid[i] !== 0) orders.append(book[i]!, px[i]!, sz[i]!, origSz[i]!, oid[i]!, timeMs[i]!, owner[i]!)
  orders.sort()
}

/** What writeAmounts() writes of a wallet. */
function widthOf({ spot, margin }: Wallet): number {
  return spot.length * 3 + margin.reduce((sum, { positions }) => sum + 2 + positions.size * 6, 0)
}

function writeAmounts({ margin, spot }: Wallet, out: BigInt64Array, from: number): number {
  let at = from
  for (const { total, hold, cost } of spot) {
    out[at++] = total
    out[at++] = hold
    out[at++] = cost
  }
  for (const { rawUsd, positions } of margin) {
    out[at++] = rawUsd
    out[at++] = BigInt(positions.size)
    for (const [market, position] of positions) {
      out[at++] = BigInt(market)
      out[at++] = position.szi
      out[at++] = position.cost
      out[at++] = BigInt(position.leverage)
      out[at++] = position.fundingSinceOpen
      out[at++] = position.fundingSinceChange
    }
  }
  return at
}

function openWallet(x: Exchange, wallet: Wallet, amounts: Iterator<bigint>): void {
  const next = (): bigint => amounts.next().value
  for (const balance of wallet.spot) Object.assign(balance, { total: next(), hold: next(), cost: next() })
  for (const margin of wallet.margin) {
    margin.rawUsd = next()
    for (let left = next(); left > 0n; left--) {
      const market = Number(next())
      const szi = next()
      const cost = next()
      const leverage = Number(next())
      margin.positions.set(market, { szi, cost, leverage, fundingSinceOpen: next(), fundingSinceChange: next() })
    }
  }
  x.accounts.push(wallet)
  x.byAddress.set(wallet.address, wallet.index)
}
