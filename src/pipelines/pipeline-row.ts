// A pipeline row in D1.

import type { AccountId, KeyHash } from '../core/ids.ts'
import type { HeightRange } from './backfill.ts'
import type { PipelineFields } from './pipeline.ts'

/** Maximum pipelines per account. Deleted ones count until their objects are known to be empty. */
export const MAX_PIPELINES = 50

export interface PipelineRow {
  readonly id: string
  readonly account: AccountId
  /** The record, which contains no secret. */
  readonly fields: PipelineFields
  readonly sealed: string | null
  readonly creator: string
  readonly creatorName: string
  /** The key that pays: the last one that started the pipeline, changed its rows, or adopted it. */
  readonly payer: KeyHash
  readonly payerName: string
  /** First keys in the rotation chains of the payer and of the key that last set the destination. */
  readonly payerRoot: string
  readonly destinationRoot: string
  readonly revision: number
  /** The last revision that the Sink is known to have. */
  readonly sentRevision: number
  readonly createdMs: number
  readonly updatedMs: number
  readonly isRemoved: boolean
  /** The pipeline that this one is a backfill of, and the request that ordered it; null: it is none. */
  readonly backfillOf: string | null
  readonly backfillRequest: string | null
  /** Delivered by earlier backfills of this pipeline. */
  readonly backfilled: readonly HeightRange[]
}

/** Table columns with the field names of a row. */
export const ROW_COLUMNS = `id, account, fields, sealed, creator, creator_name AS creatorName, payer, payer_name AS payerName,
  payer_root AS payerRoot, destination_root AS destinationRoot, revision, told AS sentRevision, created AS createdMs, updated AS updatedMs,
  removed IS NOT NULL AS isRemoved, backfill_of AS backfillOf, backfill_request AS backfillRequest, backfilled`

/** A row as D1 returns it. */
export type RawPipelineRow = Omit<PipelineRow, 'fields' | 'isRemoved' | 'backfilled'> & {
  readonly fields: string
  readonly backfilled: string
  readonly isRemoved: number
}

export function rowOf({ fields, isRemoved, backfilled, ...row }: RawPipelineRow): PipelineRow {
  return {
    ...row,
    fields: JSON.parse(fields) as PipelineFields,
    isRemoved: isRemoved !== 0,
    backfilled: JSON.parse(backfilled) as HeightRange[],
  }
}
