// A block's line in `replica_cmds`: the signed actions behind its order statuses, and their responses. Actions of the
// crowd are left out.

import { marketOf } from './market.ts'
import { type DevnetBlock, eventHash } from './node-block.ts'

const HARDFORK = { version: 90, round: 1 }
const PROPOSER = `0x${'5a'.repeat(20)}`
const BROADCASTER = `0x${'67'.repeat(20)}`
/** Devnet does not sign. The shape is that of a signature. */
const SIGNATURE = { r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}`, v: 27 }

type Status = DevnetBlock['orderStatuses'][number]

export function replicaLine(block: DevnetBlock): string {
  const { height, time, timeMs, orderStatuses } = block
  const signed = orderStatuses.flatMap((status) => {
    const action = actionOf(status)
    return action === null ? [] : [{ status, action }]
  })
  const hash = eventHash(height, '7'.repeat(54))
  const actions = signed.map(({ action }, at) => ({ signature: SIGNATURE, action, nonce: timeMs * 100 + at }))
  const bundle = { signed_actions: actions, broadcaster: BROADCASTER, broadcaster_nonce: timeMs }
  const isEmpty = signed.length === 0
  return JSON.stringify({
    abci_block: {
      time,
      signed_action_bundles: isEmpty ? [] : [[hash, bundle]],
      round: height,
      parent_round: height - 1,
      hardfork: HARDFORK,
      proposer: PROPOSER,
    },
    resps: { Full: isEmpty ? [] : [[hash, signed.map(({ status }) => responseOf(status))]] },
  })
}

/** The action that led to a status; null for statuses that an action of another wallet or the exchange caused. */
function actionOf({ status, order }: Status): object | null {
  const { coin, side, limitPx, origSz, reduceOnly, tif, oid } = order
  const asset = marketOf(coin)!.id
  if (status === 'canceled') return { type: 'cancel', cancels: [{ a: asset, o: oid }] }
  if (status !== 'open' && !status.endsWith('Rejected')) return null
  const terms = { a: asset, b: side === 'B', p: limitPx, s: origSz, r: reduceOnly, t: { limit: { tif } } }
  return { type: 'order', orders: [terms], grouping: 'na' }
}

function responseOf({ user, status, order: { oid } }: Status): object {
  const type = status === 'canceled' ? 'cancel' : 'order'
  const result = status === 'canceled' ? 'success' : status === 'open' ? { resting: { oid } } : { error: status }
  return { user, res: { status: 'ok', response: { type, data: { statuses: [result] } } } }
}
