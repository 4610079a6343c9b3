// The state of the exchange as one clonable value. Books are rebuilt from their owners' orders: ids are assigned when
// an order rests, so time priority is id order. The crowd's amounts and orders are columns, because writing objects
// would take a quarter of a second. Their byte order is that of the machine, so a checkpoint cannot be used on a
// machine with a different byte order.

import * as z from 'zod'
import { isCrowd } from './crowd.ts'
import { type Exchange, emptyExchange } from './exchange.ts'
import { openBlock } from './node-block.ts'
import { Prng } from './prng.ts'
import { SCALES, type Scale, ScaleName } from './scale.ts'
import { emptyWallet, type Wallet } from './wallet.ts'

const VERSION = 5

/** The fields that are checked before anything else in a checkpoint is trusted. */
const Header = z.looseObject({ version: z.literal(VERSION), scale: ScaleName })

export type ExchangeState = ReturnType<typeof exchangeState>

/** Returns the state. It shares data with the exchange, so write or copy it before the next block. */
export function exchangeState(x: Exchange) {
  const { scale, rng, block, byAddress: _byAddress, books: _books, crowd, accounts, ...state } = x
  return {
    ...state,
    version: VERSION,
    scale: scale.name,
    timeNs: block.timeNs,
    rng: rng.state(),
    accounts: accounts.filter(({ index }) => !isCrowd(x, index)),
    crowd: crowd && {
      rng: crowd.rng.state(),
      columns: crowd.orders.columns(),
      ...walletColumns(accounts.slice(crowd.first, crowd.first + crowd.wallets)),
    },
  }
}

/**
 * Inverse of exchangeState(). Takes ownership of `saved`. `preferred`: scale to use if its name matches the saved
 * state. Throws if `saved` is not a state of this version.
 */
export function exchangeOf(saved: unknown, preferred: Scale): Exchange {
  Header.parse(saved)
  const { version: _version, timeNs, rng, scale, crowd, ...state } = saved as ExchangeState
  const used = preferred.name === scale ? preferred : SCALES[scale]
  const empty = emptyExchange(state.seed, state.fundingBlocks, used)
  const x: Exchange = {
    ...empty,
    ...state,
    rng: new Prng(rng),
    block: openBlock(state.height, timeNs),
    crowd: empty.crowd && crowd && { ...empty.crowd, rng: new Prng(crowd.rng) },
  }
  if (x.crowd && crowd) {
    x.accounts.splice(x.crowd.first, 0, ...walletsOf(crowd, x.crowd.first, used))
    const { book, px, sz, origSz, oid, timeMs, owner } = crowd.columns
    oid.forEach((id, i) => {
      if (id !== 0) x.crowd!.orders.append(book[i]!, px[i]!, sz[i]!, origSz[i]!, id, timeMs[i]!, owner[i]!)
    })
    x.crowd.orders.sort()
  }
  for (const { address, index } of x.accounts) x.byAddress.set(address, index)
  const resting = x.accounts.flatMap(({ orders }) => orders.flat(2)).sort((a, b) => a.oid - b.oid)
  for (const order of resting) x.books[order.market]!.add(order)
  return x
}

/** Addresses and amounts of wallets without orders. */
function walletColumns(wallets: readonly Wallet[]) {
  const all = wallets.flatMap(({ margin }) => margin)
  const positions = all.reduce((sum, margin) => sum + margin.positions.size, 0)
  const amounts = new BigInt64Array(
    wallets.length * (wallets[0]?.spot.length ?? 0) * 3 + all.length * 2 + positions * 6,
  )
  let at = 0
  for (const { spot, margin } of wallets) {
    for (const { total, hold, cost } of spot) {
      amounts[at++] = total
      amounts[at++] = hold
      amounts[at++] = cost
    }
    for (const { rawUsd, positions } of margin) {
      amounts[at++] = rawUsd
      amounts[at++] = BigInt(positions.size)
      for (const [market, position] of positions) {
        amounts[at++] = BigInt(market)
        amounts[at++] = position.szi
        amounts[at++] = position.cost
        amounts[at++] = BigInt(position.leverage)
        amounts[at++] = position.fundingSinceOpen
        amounts[at++] = position.fundingSinceChange
      }
    }
  }
  return { addresses: wallets.map(({ address }) => address), amounts }
}

/** Inverse of walletColumns(); the first wallet has index `first`. */
function walletsOf({ addresses, amounts }: ReturnType<typeof walletColumns>, first: number, scale: Scale): Wallet[] {
  const values = amounts.values()
  const next = (): bigint => values.next().value!
  return addresses.map((address, i) => {
    const wallet = emptyWallet(first + i, address, scale)
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
    return wallet
  })
}
