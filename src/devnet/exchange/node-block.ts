// One block in the node's own shapes and key order.

import type { Fill } from '../../protocol/feed/block.ts'
import type { FrontendOrder, Liquidation, OrderStatus, Side } from './order.ts'

/** Hash of actions by the system itself. */
export const ZERO_HASH = `0x${'0'.repeat(64)}`

export type NodeFill = Fill & {
  builderFee?: string
  cloid?: string
  liquidation?: Liquidation
  builder?: string
  deployerFee?: string
  twapId: number | null
}

interface NodeOrderStatus {
  time: string
  user: string
  hash: string | null
  builder: { b: string; f: number } | null
  status: OrderStatus
  order: FrontendOrder
}

export type RawDiff = { new: { sz: string } } | { update: { origSz: string; newSz: string } } | 'remove'

export interface NodeBookDiff {
  user: string
  oid: number
  coin: string
  side: Side
  px: string
  raw_book_diff: RawDiff
}

export interface FundingDelta {
  user: string
  coin: string
  funding_amount: string
  szi: string
  funding_rate: string
}

/** The keys are those on the wire. */
export interface LedgerDelta {
  type: string
  [key: string]: unknown
}

/** Staking events, as the node writes them. */
type StakingEvent =
  | { CDeposit: { user: string; amount: string } }
  | { CWithdrawal: { user: string; amount: string; is_finalized: boolean } }
  | { Delegation: { user: string; validator: string; amount: string; is_undelegate: boolean } }
  | { ValidatorRewards: { validator_to_reward: (readonly [string, string])[] } }

export interface NodeMiscEvent {
  time: string
  hash: string
  inner:
    | { LedgerUpdate: { users: string[]; delta: LedgerDelta } }
    | { Funding: { deltas: FundingDelta[] } }
    | StakingEvent
}

export interface NodeTwapStatus {
  time: string
  twap_id: number
  state: {
    coin: string
    user: string
    side: Side
    sz: string
    executedSz: string
    executedNtl: string
    minutes: number
    reduceOnly: boolean
    randomize: boolean
    timestamp: number
    trigger: null
    stopPx: null
  }
  status: 'activated' | 'finished'
}

type CoinPx = readonly [coin: string, px: string]
type CoinState = readonly [coin: string, { px: string; last_update_time: string; daily_px: string }]

/** Prices that the deployer of a DEX pushed, and the resulting ones. */
interface NodeOracleUpdate {
  update_class: 'Deployer'
  mark_px_inputs: readonly CoinPx[]
  spot_px_inputs: readonly CoinPx[]
  external_perp_px_inputs: readonly CoinPx[]
  oracle_pxs: {
    coin_to_mark_px: readonly CoinState[]
    coin_to_oracle_px: readonly CoinState[]
    coin_to_external_perp_px: readonly CoinState[]
  }
}

/** An action of the exchange that an EVM transaction caused. */
interface NodeWriterAction {
  user: string
  nonce: number
  evm_tx_hash: string
  action: { type: 'SystemSpotSendAction'; destination: string; token: number; wei: number }
}

/** The events of one block. `changed`: coins whose orders changed. */
export interface DevnetBlock {
  readonly height: number
  readonly timeNs: bigint
  readonly timeMs: number
  /** Block time in ISO format, with nanoseconds and without a zone. */
  readonly time: string
  readonly fills: [string, NodeFill][]
  readonly orderStatuses: NodeOrderStatus[]
  readonly rawDiffs: NodeBookDiff[]
  readonly miscEvents: NodeMiscEvent[]
  readonly twapStatuses: NodeTwapStatus[]
  readonly oracleUpdates: NodeOracleUpdate[]
  readonly writerActions: NodeWriterAction[]
  /** Events of the crowd as strings. They follow all other events of their stream. */
  readonly crowd: { readonly orderStatuses: string[]; readonly rawDiffs: string[] }
  readonly changed: ReadonlySet<string>
}

export interface OpenBlock extends DevnetBlock {
  readonly changed: Set<string>
}

/** A time in the node's format: ISO with nanoseconds and without a zone. */
export function isoNanos(timeNs: bigint): string {
  const ms = timeNs / 1_000_000n
  const rest = (timeNs - ms * 1_000_000n).toString().padStart(6, '0')
  return new Date(Number(ms)).toISOString().slice(0, -1) + rest
}

/** Inverse of isoNanos. The caller has checked the form. */
export function nanosOf(iso: string): bigint {
  const [seconds = '', fraction = ''] = iso.split('.')
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
}

/** A block without events; `timeNs`: nanoseconds since 1970. */
export function openBlock(height: number, timeNs: bigint): OpenBlock {
  const timeMs = Number(timeNs / 1_000_000n)
  const time = isoNanos(timeNs)
  return {
    height,
    timeNs,
    timeMs,
    time,
    fills: [],
    orderStatuses: [],
    rawDiffs: [],
    miscEvents: [],
    twapStatuses: [],
    oracleUpdates: [],
    writerActions: [],
    crowd: { orderStatuses: [], rawDiffs: [] },
    changed: new Set(),
  }
}

/**
 * A hash that contains the height, like the node's hashes: byte 10 is 04, and bytes 11 to 14 are the height. `random`:
 * hex digits for the other bytes.
 */
export function eventHash(height: number, random: string): string {
  return `0x${random.slice(0, 20)}04${height.toString(16).padStart(8, '0')}${random.slice(20, 54)}`
}

/** Adds a ledger update to the block. `users`: addresses of the wallets that it affects. */
export function recordLedger(block: OpenBlock, hash: string, users: string[], delta: LedgerDelta): void {
  block.miscEvents.push({ time: block.time, hash, inner: { LedgerUpdate: { users, delta } } })
}

/** Streams that get no line for a block in which they have no events. */
export const SPARSE_STREAMS = [
  ...(['misc_events_by_block', 'node_twap_statuses_by_block'] as const),
  ...(['hip3_oracle_updates_by_block', 'system_and_core_writer_actions_by_block'] as const),
] as const
/** The node's folder names, in writing order. */
export const STREAMS = [
  'node_fills_by_block',
  'node_order_statuses_by_block',
  'node_raw_book_diffs_by_block',
  ...SPARSE_STREAMS,
] as const
export type Stream = (typeof STREAMS)[number]

/** One line of a stream, without its line feed. */
export function streamLine(block: DevnetBlock, stream: Stream, localTime: string): string {
  const events = JSON.stringify(block[EVENTS[stream]]).slice(1, -1)
  const ofCrowd = crowdEventsOf(block, stream).join()
  const all = events === '' || ofCrowd === '' ? events + ofCrowd : `${events},${ofCrowd}`
  return `{"local_time":"${localTime}","block_time":"${block.time}","block_number":${block.height},"events":[${all}]}`
}

function crowdEventsOf({ crowd }: DevnetBlock, stream: Stream): readonly string[] {
  if (stream === 'node_order_statuses_by_block') return crowd.orderStatuses
  return stream === 'node_raw_book_diffs_by_block' ? crowd.rawDiffs : []
}

/** The block field that holds a stream's events, except those of the crowd. */
export const EVENTS = {
  node_fills_by_block: 'fills',
  node_order_statuses_by_block: 'orderStatuses',
  node_raw_book_diffs_by_block: 'rawDiffs',
  misc_events_by_block: 'miscEvents',
  node_twap_statuses_by_block: 'twapStatuses',
  hip3_oracle_updates_by_block: 'oracleUpdates',
  system_and_core_writer_actions_by_block: 'writerActions',
} as const satisfies Record<Stream, keyof DevnetBlock>
