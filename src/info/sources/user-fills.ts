// A user's fills, as the two lists of the public API: plain fills, or fills of TWAP orders with their ids.

import { fillIdOf, fillRows, sliceRows } from '../../archive/fill-rows.ts'
import type { Failure } from '../../core/failure.ts'
import type { Result } from '../../core/result.ts'
import type { Sources } from '../ports.ts'
import type { InfoAnswer } from '../query.ts'
import type { RowsRequest } from './own-rows.ts'
import { listAnswer } from './row-pages.ts'

const ROWS_MAX = 2_000

interface FillsRequest extends RowsRequest {
  /** Whether partial fills of one order in a block are merged. */
  readonly aggregateByTime?: boolean | undefined
}

interface FillsList {
  readonly order: 'newest' | 'oldest'
  readonly isWindowed: boolean
}

type From = Pick<Sources, 'events' | 'upstream'>

export function fillsAnswer(request: FillsRequest, list: FillsList, from: From): Promise<Result<InfoAnswer, Failure>> {
  const { aggregateByTime } = request
  return listAnswer(
    {
      ...list,
      request,
      kind: 'fills',
      limit: ROWS_MAX,
      rowsOf: ({ fills }) => fillRows(fills, aggregateByTime),
      timeOf: ({ time }) => time,
      idOf: (fill) => fillIdOf(fill, aggregateByTime),
    },
    from,
  )
}

/** TWAP fills, newest first in both lists of the public API. */
export function slicesAnswer(
  request: FillsRequest,
  isWindowed: boolean,
  from: From,
): Promise<Result<InfoAnswer, Failure>> {
  const { aggregateByTime } = request
  return listAnswer(
    {
      request,
      kind: 'fills',
      order: 'newest',
      isWindowed,
      limit: ROWS_MAX,
      rowsOf: ({ fills }) => sliceRows(fills, aggregateByTime),
      timeOf: ({ fill }) => fill.time,
      idOf: ({ fill }) => fillIdOf(fill, aggregateByTime),
    },
    from,
  )
}
