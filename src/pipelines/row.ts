// A pipeline as its row of D1 has it.

import { DEFAULTS, type PipelineFields } from './pipeline.ts'

/** Of an account. Deleted ones whose objects are not known to be empty count too. */
export const PIPELINES_MAX = 50

export interface PipelineRow {
  readonly id: string
  readonly account: string
  /** Without a secret. */
  readonly fields: PipelineFields
  readonly sealed: string | null
  readonly creator: string
  readonly creatorName: string
  /** The key that it is charged to: the last one that set it to run, changed what it sends, or adopted it. */
  readonly payer: string
  readonly payerName: string
  /** The first key in the payer's chain of rotations, and in that of the key that last set the destination. */
  readonly payerRoot: string
  readonly destinationRoot: string
  readonly revision: number
  /** The last revision that its Sink object is known to have. */
  readonly told: number
  readonly createdMs: number
  readonly updatedMs: number
  readonly isRemoved: boolean
}

/** As the table has it. */
export interface StoredRow {
  readonly id: string
  readonly account: string
  readonly fields: string
  readonly sealed: string | null
  readonly creator: string
  readonly creator_name: string
  readonly payer: string
  readonly payer_name: string
  readonly payer_root: string
  readonly destination_root: string
  readonly revision: number
  readonly told: number
  readonly created: number
  readonly updated: number
  readonly removed: number | null
}

export function rowOf(row: StoredRow): PipelineRow {
  const { id, account, sealed, creator, creator_name: creatorName, payer, payer_name: payerName, revision, told } = row
  return {
    id,
    account,
    sealed,
    creator,
    creatorName,
    payer,
    payerName,
    revision,
    told,
    payerRoot: row.payer_root,
    destinationRoot: row.destination_root,
    // One of before a field was added is as if that had been left out.
    fields: { ...DEFAULTS, ...JSON.parse(row.fields) },
    createdMs: row.created,
    updatedMs: row.updated,
    isRemoved: row.removed !== null,
  }
}
