// Reads pages of fills placed through a builder from the log and the files. Invariant: fills of one time are on the
// same page, even where the log and the files meet and while new fills arrive.

import { aggregateFills, NODE_ONLY, omitFields } from '../../archive/fill-rows.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Address, Fill, UserFill } from '../../protocol/feed/block.ts'
import { isByRow } from '../../protocol/info/row-cursor.ts'
import type { Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import { EVER, historyAnswer, UNREADABLE } from './own-history.ts'
import { rowPage } from './row-pages.ts'

interface BuilderRequest {
  readonly type: string
  readonly builder: string
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
  readonly aggregateByTime?: boolean | undefined
  readonly cursor?: string | undefined
}

interface BuilderRows {
  readonly builder: string
  readonly fromMs: number
  readonly toMs: number
  readonly isAggregated: boolean
  readonly limit: number
}

const ROWS_MAX = 2_000

/** One page of fills, newest first, by time or by row. */
export function builderAnswer(
  request: BuilderRequest,
  from: Pick<Sources, 'events'>,
): Promise<Result<InfoAnswer, Failure>> {
  const { builder, startTime: fromMs = 0, endTime = EVER, aggregateByTime: isAggregated = false, cursor } = request
  const limit = ROWS_MAX
  if (!isByRow(request))
    return builderRows(
      { builder, fromMs, toMs: Math.min(endTime, Number(cursor ?? EVER) - 1), isAggregated, limit },
      from,
    )
  return rowPage(
    {
      request,
      scope: { by: 'builder', address: builder },
      kind: 'fills',
      order: 'newest',
      limit,
      rowsOf: ({ fills }) => (isAggregated ? aggregateFills(fills) : fills).map(shown),
      timeOf: ({ time }) => time,
    },
    from,
    null,
  )
}

/** One page of fills, newest first. */
export async function builderRows(
  { builder, fromMs, toMs, isAggregated, limit }: BuilderRows,
  { events }: Pick<Sources, 'events'>,
): Promise<Result<InfoAnswer, Failure>> {
  const blocks: { readonly time: number; readonly fills: readonly UserFill[] }[] = []
  let rows = 0
  const scope = { by: 'builder', address: builder } as const
  const read = await events.read({ kind: 'fills', scope, fromMs, toMs, order: 'newest' }, ({ time, fills }) => {
    // Blocks of the same time stay together on one page.
    if (rows >= limit && time !== blocks.at(-1)?.time) return false
    const shownFills = isAggregated ? aggregateFills(fills) : fills
    blocks.push({ time, fills: shownFills })
    rows += shownFills.length
    return true
  })
  if (!read.ok) return read
  const { ended } = read.value
  const isCut = ended === 'work' || ended === 'damage'
  // After an early stop, the last time may be incomplete.
  const lastMs = isCut ? blocks.at(-1)?.time : undefined
  const whole = blocks.filter(({ time }) => time !== lastMs)
  if (isCut && whole.length === 0) return err(UNREADABLE)
  return ok(historyAnswer(builderPage(whole.map(({ fills }) => fills).reverse(), limit), read.value))
}

/** A fill of the info API: it has its wallet, but no fields that only the node and the streams have. */
type BuilderFill = { readonly user: Address } & Fill

const NOT_SHOWN = [...NODE_ONLY, 'twapId'] as const

/** The newest `rows` fills; `blocks` are oldest first. If fills of one time exceed a page, the older ones are cut. */
export function builderPage(blocks: readonly (readonly UserFill[])[], rows: number): BuilderFill[] {
  const byTime = Map.groupBy(blocks.flat(), ([, { time }]) => time)
  const page: UserFill[] = []
  for (const entries of [...byTime.values()].toReversed()) {
    const fills = entries.toReversed()
    if (page.length > 0 && page.length + fills.length > rows) break
    page.push(...fills)
  }
  return page.slice(0, rows).map(shown)
}

function shown([user, fill]: UserFill): BuilderFill {
  return { user, ...omitFields(fill, NOT_SHOWN) }
}
