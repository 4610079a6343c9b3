// A pipeline as its row of D1 has it.

import type { AccountId, KeyHash } from '../core/ids.ts'
import type { PipelineFields } from './pipeline.ts'

/** Of an account. Deleted ones whose objects are not known to be empty count too. */
export const MAX_PIPELINES = 50

export interface PipelineRow {
  readonly id: string
  readonly account: AccountId
  /** Without a secret. */
  readonly fields: PipelineFields
  readonly sealed: string | null
  readonly creator: string
  readonly creatorName: string
  /** The key that it is charged to: the last one that set it to run, changed what it sends, or adopted it. */
  readonly payer: KeyHash
  readonly payerName: string
  /** The first key in the payer's chain of rotations, and in that of the key that last set the destination. */
  readonly payerRoot: string
  readonly destinationRoot: string
  readonly revision: number
  /** The last revision that its Sink object is known to have. */
  readonly sentRevision: number
  readonly createdMs: number
  readonly updatedMs: number
  readonly isRemoved: boolean
}

/** Columns of the table under the names of a row. */
export const ROW_COLUMNS = `id, account, fields, sealed, creator, creator_name AS creatorName, payer, payer_name AS payerName,
  payer_root AS payerRoot, destination_root AS destinationRoot, revision, told AS sentRevision, created AS createdMs, updated AS updatedMs,
  removed IS NOT NULL AS isRemoved`

/** What these columns hold. */
export type RawPipelineRow = Omit<PipelineRow, 'fields' | 'isRemoved'> & {
  readonly fields: string
  readonly isRemoved: number
}

export function rowOf({ fields, isRemoved, ...row }: RawPipelineRow): PipelineRow {
  return { ...row, fields: JSON.parse(fields) as PipelineFields, isRemoved: isRemoved !== 0 }
}
