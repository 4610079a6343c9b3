// The gateway as the target of imported blocks: what it has, and sending it batches. Invariant: a batch without a response is
// sent again, which is safe because the gateway skips archived blocks.

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Responses } from '../../console/responses.ts'
import { backoffMs } from '../../core/backoff.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { GatewayClient } from '../gateway.node.ts'
import type { BatchResult } from './backfill-run.ts'
import type { ReadBlock } from './read-blocks.ts'
import type { BackfillTarget, GapState } from './window.ts'

const PATH = '/admin/history/backfill'
const TRIES = 6
const RETRY = { firstMs: 1_000, capMs: 30_000, jitter: 0.5 }

const STATE = ['chain', 'from', 'before', 'gaps', 'next', 'now_ms'] as const

const NOTHING_ARCHIVED =
  'The gateway has not archived any block yet. Start a feeder, and run this command a minute later.'

/** The archived range of the gateway with its gaps at or above a height, or why it accepts no backfill. */
export async function readTarget(gateway: GatewayClient, fromHeight = 0): Promise<Result<BackfillTarget, string>> {
  const gaps: GapState[] = []
  for (let after = fromHeight; ; ) {
    const state = await gateway.request<Responses['showBackfill']>('GET', `${PATH}?after=${after}`, STATE)
    if (!state.ok) return state
    const { chain, from, before, next, now_ms: nowMs } = state.value
    gaps.push(...state.value.gaps)
    if (before === null) return err(NOTHING_ARCHIVED)
    if (next === null) return ok({ chain, from, end: before, gaps, nowMs })
    after = next
  }
}

/** `isRefused`: the fault is in the blocks, so other blocks may be accepted. */
interface BatchError {
  readonly sentence: string
  readonly isRefused: boolean
}

interface SendOptions {
  /** SHA-256 of the checkpoint after the last block; null if there is none. */
  readonly checkpoint: string | null
  readonly note: (message: string) => void
  readonly isStopped: () => boolean
}

/** Sends a batch, with retries while they may help. `source`: name of the source. */
export async function sendBatch(
  gateway: GatewayClient,
  source: string,
  batch: readonly ReadBlock[],
  { checkpoint, note, isStopped }: SendOptions,
): Promise<Result<BatchResult, BatchError>> {
  const packed = gzipSync(batch.map(({ line }) => line).join('\n'))
  for (let tries = 0; ; tries++) {
    const sent = await gateway.sendPacked<Responses['backfill']>(
      `${PATH}?${new URLSearchParams({ source, ...(checkpoint !== null && { checkpoint }) })}`,
      ['blocks', 'segments', 'bytes', 'next'],
      packed,
    )
    if (sent.ok) return sent
    const { sentence, isPassing, isRefused } = sent.error
    if (!isPassing || tries === TRIES || isStopped())
      return err({ sentence: `${sentence} (Blocks ${rangeText(batch)}.)`, isRefused })
    const waitMs = backoffMs(RETRY, tries, Math.random())
    note(`${sentence} Retrying in ${Math.ceil(waitMs / 1_000)} s.`)
    await sleep(waitMs)
  }
}

const rangeText = (batch: readonly ReadBlock[]) => `${batch[0]?.height} to ${batch.at(-1)?.height}`
