// completed_trades: round trips of the filter's wallets, as in info's `userCompletedTrades`, in the block that closed
// them. Invariants: positions that opened before the pipeline started, or that touch a gap, are omitted, until the gap is
// repaired; so are positions that did not continue, and a gap row tells where.

import Big from 'big.js'
import { afterGap, emptyTradeState, foldTrades } from '../../archive/completed-trades.ts'
import type { OpenTrade } from '../../archive/open-trade.ts'
import type { Coin } from '../../core/coin.ts'
import { DAY_MS } from '../../core/time.ts'
import type { Address } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventsTarget } from '../../relay/channel.ts'
import { gapRow, keyedRows, type TopicDefinition, type TopicFold, type TriggerSource } from './topic.ts'

type Trades = ReturnType<typeof emptyTradeState>
/** JSON form, where amounts are strings. */
type EncodedTrades = readonly [user: Address, open: readonly [coin: Coin, trade: object][], closes: Trades['closes']]

const TEXT_COLUMNS = [
  ...['user', 'coin', 'position_type', 'gross_pnl', 'net_pnl', 'funding_pnl', 'entry_px', 'exit_px'],
  ...['position_closed_size', 'fees', 'max_position_size'],
]
const AMOUNT_FIELDS = [
  ...(['size', 'maxSize', 'entrySize', 'entryValue', 'exitSize', 'exitValue'] as const),
  ...(['grossPnl', 'fees', 'funding'] as const),
]

/** Funding may change any open position. */
const TRADES: TriggerSource = {
  namesIn: (block) => {
    const { fills, funding = [] } = block as RelayEvents
    return funding.length > 0 ? null : fills.map(([user]) => user)
  },
}

export const completedTrades: TopicDefinition = {
  lines: 'events',
  columns: [
    ...TEXT_COLUMNS.map((name) => ({ name, type: 'text' }) as const),
    { name: 'builder', type: 'text', isOptional: true },
    { name: 'open_time', type: 'time' },
    { name: 'close_time', type: 'time' },
    ...['duration_ms', 'fills', 'maker_fills', 'tx_index'].map((name) => ({ name, type: 'whole' }) as const),
  ],
  trigger: (target) => {
    const { channel, body } = target as EventsTarget
    return { source: TRADES, names: channel.names(body) }
  },
  // A position may be open for years, so reading needs limits. The number of closes matters only within one millisecond.
  reread: {
    fromMs: (_, timeMs) => timeMs - DAY_MS,
    maxAfterMs: DAY_MS,
    lasting: (state) =>
      state &&
      JSON.stringify(
        (JSON.parse(state) as EncodedTrades[]).flatMap(([user, open]) => (open.length > 0 ? [user, open] : [])),
      ),
  },
  open(target, before): TopicFold<RelayEvents> {
    const { channel, body } = target as EventsTarget
    const known = new Map(((before === null ? [] : JSON.parse(before)) as EncodedTrades[]).map((one) => [one[0], one]))
    const states = new Map(
      channel.names(body).map((user): [string, Trades] => [user, decodeTrades(user, known.get(user))]),
    )
    const acrossAll = () => {
      for (const [user, state] of states) states.set(user, afterGap(state))
    }
    return {
      parse: (line) => JSON.parse(line) as RelayEvents,
      rows: (block) => {
        const { height, time, fills, funding = [], only } = block
        const own = Map.groupBy(fills, ([user]) => user)
        let reason = only ? 'only the fills of these blocks are known' : null
        const rows = [...states].flatMap(([user, state]) => {
          const mine = own.get(user) ?? []
          if (mine.length === 0 && (funding.length === 0 || state.open.size === 0)) return []
          const folded = foldTrades(state, [{ height, time, fills: mine, funding: [...funding] }])
          states.set(user, folded.state)
          if (folded.isBroken) reason ??= 'the size or the funding of an open position became unknown'
          return folded.trades.map((trade) => [`${user}:${trade.coin}:${trade.tx_index}`, { ...trade }] as const)
        })
        // Funding of open positions is unknown for these blocks.
        if (only) acrossAll()
        const gaps = reason === null ? [] : [gapRow(height, height, time, reason)]
        return [...gaps, ...keyedRows(block, rows)]
      },
      onGap: acrossAll,
      state: () => JSON.stringify([...states].flatMap(([, state]) => encodeTrades(state))),
    }
  },
}

function encodeTrades({ user, open, closes }: Trades): EncodedTrades[] {
  return open.size === 0 && closes.count === 0 ? [] : [[user, [...open], closes]]
}

function decodeTrades(user: Address, known: EncodedTrades | undefined): Trades {
  if (!known) return emptyTradeState(user)
  const [, open, closes] = known
  const revived = open.map(([coin, trade]): [string, OpenTrade] => {
    const amounts = AMOUNT_FIELDS.map((name) => [name, new Big((trade as Record<string, string>)[name] ?? 0)])
    return [coin, { ...trade, ...Object.fromEntries(amounts) } as OpenTrade]
  })
  return { user, open: new Map(revived), closes }
}
