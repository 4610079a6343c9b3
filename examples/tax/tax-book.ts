// Follows a wallet from its first row: fills, funding payments and ledger updates in, rows of a tax report out. Spot
// tokens are lots. Perps are positions whose profit counts when they are closed. Where rows are missing, it marks what it
// does not know instead of guessing.

import { Big } from 'big.js'
import { Lots, type Method } from './lots.ts'
import type { Movement } from './movements.ts'
import { PerpPosition } from './perp-position.ts'

export const COLUMNS = [
  'time',
  'account',
  'asset',
  'event',
  'size',
  'price',
  'proceeds',
  'cost',
  'gain',
  'fee',
  'fee_token',
  'exchange_pnl',
  'unknown_size',
  'note',
  'id',
] as const
export type Row = Partial<Record<(typeof COLUMNS)[number], string>>

export type TaxFill = {
  coin: string
  px: string
  sz: string
  side: 'B' | 'A'
  time: number
  startPosition: string
  dir: string
  closedPnl: string
  fee: string
  feeToken?: string | undefined
  tid?: number | undefined
  hash: string
}
/** The tokens of a spot pair. */
export type Pair = { base: string; quote: string }
/** Sums of the year. `unknown`: gains that cannot be computed, as the exchange reports them. */
type Totals = Record<'perp gain' | 'spot gain' | 'funding', Big> & {
  fees: Map<string, Big>
  exchangeKnown: Big
  exchangeUnknown: Big
  unknownFills: number
}

const ZERO = new Big(0)
const isPerp = (coin: string) => !/^[@#]|\//.test(coin)

export class TaxBook {
  readonly #method: Method
  readonly #pairs: ReadonlyMap<string, Pair>
  /** First and last millisecond of the year. Earlier rows only count for the cost of what is held. */
  readonly #year: { from: number; to: number }
  readonly #emit: (row: Row) => void
  readonly #lots = new Map<string, Lots>()
  /** Units that the wallet owns outside of its spot balance, by token. */
  readonly #away = new Map<string, Big>()
  readonly #positions = new Map<string, PerpPosition>()
  readonly totals: Totals = {
    'perp gain': ZERO,
    'spot gain': ZERO,
    funding: ZERO,
    fees: new Map(),
    exchangeKnown: ZERO,
    exchangeUnknown: ZERO,
    unknownFills: 0,
  }
  /** Balances and positions that do not follow from earlier rows, as sentences. */
  readonly gaps: string[] = []

  constructor(
    method: Method,
    pairs: ReadonlyMap<string, Pair>,
    year: { from: number; to: number },
    emit: (row: Row) => void,
  ) {
    this.#method = method
    this.#pairs = pairs
    this.#year = year
    this.#emit = emit
  }

  fill(fill: TaxFill): void {
    if (isPerp(fill.coin)) this.#perpFill(fill)
    else this.#spotFill(fill)
  }

  funding(time: number, coin: string, usdc: string): void {
    if (!this.#isInYear(time)) return
    this.totals.funding = this.totals.funding.plus(usdc)
    this.#row(time, { account: 'funding', asset: coin, event: 'funding', gain: usdc })
  }

  movement(time: number, hash: string, { kind, asset, amount, fee, feeToken, note }: Movement): void {
    const size = new Big(amount ?? 0)
    let cost: Big | null = null
    // Dollars have no lots.
    if (asset !== 'USDC' && kind === 'moved') this.#away.set(asset, this.#awayOf(asset).minus(size))
    else if (asset !== 'USDC' && size.gt(0)) this.#lotsOf(asset).add(size, null)
    else if (asset !== 'USDC' && size.lt(0)) cost = this.#lotsOf(asset).take(size.times(-1)).cost
    this.#payFee(time, fee, feeToken, hash)
    const isUnknown = kind === 'unknown'
    this.#row(time, {
      account: 'transfer',
      asset,
      event: kind,
      size: amount ?? '',
      ...(cost && { cost: cost.toFixed() }),
      fee,
      fee_token: feeToken,
      unknown_size: asset !== 'USDC' && kind !== 'moved' && size.gt(0) ? size.toFixed() : '',
      note: isUnknown ? `${note}: this program does not know this kind of row` : note,
      id: hash,
    })
  }

  /** Positions and tokens after the last row. */
  holdings(): Row[] {
    const tokens = [...this.#lots].filter(([, lots]) => !lots.sz.eq(0))
    const positions = [...this.#positions].filter(([, { szi }]) => !szi.eq(0))
    const spot = tokens.map(([asset, lots]) => {
      const held = { account: 'spot', asset, event: 'holding', size: lots.sz.toFixed(), cost: lots.cost.toFixed() }
      return { ...held, unknown_size: lots.unknownSz.eq(0) ? '' : lots.unknownSz.toFixed() }
    })
    const perps = positions.map(([asset, { szi, cost, isKnown }]) => {
      const held = { account: 'perp', asset, event: 'holding', size: szi.toFixed() }
      return isKnown ? { ...held, cost: cost.toFixed() } : { ...held, unknown_size: szi.abs().toFixed() }
    })
    return [...spot, ...perps]
  }

  /** Rows with the sums of the year, and the comparison with the exchange's own profits of perps. */
  summary(): Row[] {
    const { fees, exchangeKnown, exchangeUnknown, unknownFills } = this.totals
    const total = (event: string, more: Row): Row => ({ account: 'total', event, ...more })
    const difference = this.totals['perp gain'].minus(exchangeKnown)
    return [
      ...(['perp gain', 'spot gain', 'funding'] as const).map((name) =>
        total(name, { gain: this.totals[name].toFixed() }),
      ),
      ...[...fees].map(([token, sum]) => total('fees', { fee: sum.toFixed(), fee_token: token })),
      total('reconciliation', {
        gain: this.totals['perp gain'].toFixed(),
        exchange_pnl: exchangeKnown.toFixed(),
        note: `perps: the difference to the exchange is ${difference.toFixed()}`,
      }),
      total('not computed', {
        exchange_pnl: exchangeUnknown.toFixed(),
        note: `${unknownFills} fills closed perps or sold tokens of unknown cost`,
      }),
    ]
  }

  #perpFill({ coin, px, sz, side, time, startPosition, dir, closedPnl, fee, feeToken = 'USDC', tid, hash }: TaxFill) {
    const known = this.#positions.get(coin)
    const position = known ?? new PerpPosition()
    this.#positions.set(coin, position)
    const start = new Big(startPosition)
    if (!position.szi.eq(start)) {
      this.#gap(
        time,
        coin,
        known ? `${position.szi.toFixed()} became ${startPosition}` : `${startPosition} was already open`,
      )
      position.assume(start)
    }
    const { closed, pnl } = position.fill(side === 'B' ? new Big(sz) : new Big(sz).times(-1), new Big(px))
    if (this.#isInYear(time) && closed.gt(0)) this.#reconcile(pnl, new Big(closedPnl))
    this.#payFee(time, fee, feeToken, hash)
    this.#row(time, {
      account: 'perp',
      asset: coin,
      event: dir,
      size: side === 'B' ? sz : `-${sz}`,
      price: px,
      gain: closed.eq(0) || !pnl ? '' : pnl.toFixed(),
      fee,
      fee_token: feeToken,
      exchange_pnl: closedPnl,
      unknown_size: pnl ? '' : closed.toFixed(),
      id: String(tid ?? hash),
    })
  }

  #reconcile(pnl: Big | null, exchange: Big): void {
    const { totals } = this
    if (pnl) {
      totals['perp gain'] = totals['perp gain'].plus(pnl)
      totals.exchangeKnown = totals.exchangeKnown.plus(exchange)
    } else {
      totals.unknownFills++
      totals.exchangeUnknown = totals.exchangeUnknown.plus(exchange)
    }
  }

  #spotFill(fill: TaxFill): void {
    const { base, quote } = this.#pairs.get(fill.coin) ?? { base: fill.coin, quote: 'USDC' }
    const lots = this.#matchBalance(fill, base)
    const { px, sz, side, time, fee, feeToken = quote, closedPnl, tid, hash } = fill
    const notional = new Big(px).times(sz)
    const quoteFee = feeToken === quote ? new Big(fee) : ZERO
    const common = {
      account: 'spot',
      asset: base,
      event: fill.dir,
      price: px,
      fee,
      fee_token: feeToken,
      note: quote === 'USDC' ? '' : `amounts in ${quote}`,
      id: String(tid ?? hash),
    }
    if (side === 'B') {
      // A fee in the token itself makes fewer units cost the same.
      const received = new Big(sz).minus(feeToken === base ? fee : 0)
      const cost = notional.plus(quoteFee)
      lots.add(received, cost)
      this.#row(time, { ...common, size: received.toFixed(), cost: cost.toFixed() })
    } else {
      const { cost, unknownSz } = lots.take(new Big(sz).plus(feeToken === base ? fee : 0))
      const proceeds = notional.minus(quoteFee)
      const knownSz = new Big(sz).minus(unknownSz)
      const knownProceeds = unknownSz.eq(0) ? proceeds : proceeds.times(knownSz).div(sz)
      const gain = knownSz.gt(0) ? knownProceeds.minus(cost) : null
      if (this.#isInYear(time)) {
        if (gain) this.totals['spot gain'] = this.totals['spot gain'].plus(gain)
        if (unknownSz.gt(0)) this.totals.unknownFills++
      }
      this.#row(time, {
        ...common,
        size: `-${sz}`,
        proceeds: proceeds.toFixed(),
        cost: cost.toFixed(),
        gain: gain?.toFixed() ?? '',
        exchange_pnl: closedPnl,
        unknown_size: unknownSz.eq(0) ? '' : unknownSz.toFixed(),
      })
    }
    if (feeToken === base || feeToken === quote) this.#countFee(time, fee, feeToken)
    else this.#payFee(time, fee, feeToken, hash)
  }

  /** Compares the lots with the balance before a fill. Units that came or went without a row have an unknown cost. */
  #matchBalance({ time, startPosition }: TaxFill, base: string): Lots {
    const isFirst = !this.#lots.has(base)
    const lots = this.#lotsOf(base)
    const difference = new Big(startPosition).minus(lots.sz.minus(this.#awayOf(base)))
    if (difference.gt(0)) lots.add(difference, null)
    if (difference.lt(0)) lots.take(difference.times(-1))
    if (!difference.eq(0))
      this.#gap(
        time,
        base,
        isFirst ? `${startPosition} were already held` : `${difference.toFixed()} came or went without a row`,
      )
    return lots
  }

  #gap(time: number, asset: string, what: string): void {
    this.gaps.push(
      `${asset}: ${what} at ${new Date(time).toISOString()}; rows before are missing, so the cost is unknown`,
    )
  }

  #payFee(time: number, fee: string, token: string, id: string): void {
    this.#countFee(time, fee, token)
    const lots = this.#lots.get(token)
    if (!lots || !new Big(fee).gt(0)) return
    const { cost, unknownSz } = lots.take(new Big(fee))
    this.#row(time, {
      account: 'spot',
      asset: token,
      event: 'fee paid in token',
      size: `-${fee}`,
      cost: cost.toFixed(),
      unknown_size: unknownSz.eq(0) ? '' : unknownSz.toFixed(),
      id,
    })
  }

  #countFee(time: number, fee: string, token: string): void {
    if (!this.#isInYear(time) || new Big(fee).eq(0)) return
    this.totals.fees.set(token, (this.totals.fees.get(token) ?? ZERO).plus(fee))
  }

  #row(time: number, row: Row): void {
    if (this.#isInYear(time)) this.#emit({ time: new Date(time).toISOString(), ...row })
  }

  #isInYear(time: number): boolean {
    return time >= this.#year.from && time <= this.#year.to
  }

  #awayOf(token: string): Big {
    return this.#away.get(token) ?? ZERO
  }

  #lotsOf(token: string): Lots {
    const lots = this.#lots.get(token) ?? new Lots(this.#method)
    this.#lots.set(token, lots)
    return lots
  }
}
