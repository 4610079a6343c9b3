// A pipeline as it is exported and imported: its row in D1, which then begins after the last delivered block.

import * as z from 'zod'
import { AccountId, KeyHash } from '../core/ids.ts'
import { type HeightRange, withinLimit, withRange } from './backfill.ts'
import { DestinationView, PipelineFields } from './pipeline.ts'
import type { PipelineRow } from './pipeline-row.ts'
import type { SinkStatus } from './sink-api.ts'

/** Pipelines per call of an export. */
export const EXPORT_PAGE = 5

const Text = z.string().max(10_000)
const Time = z.int().describe('Unix milliseconds')
const Height = z.int().min(0)

export const ExportedPipeline = z
  .object({
    id: z.string().min(1).max(64).describe('Pipeline id, `pipe_…`'),
    account: AccountId,
    fields: PipelineFields.extend({
      destination_config: DestinationView.describe('Destination, without its secret'),
    }).describe('Settings. `execution_start_from` is the block after the last delivered one'),
    sealed: Text.nullable().describe('Secret of the destination, encrypted with `KEY_SECRET`'),
    creator: Text.describe('Hash of the key that created the pipeline'),
    creator_name: Text.describe('Label of that key'),
    payer: KeyHash.describe('Hash of the key that pays'),
    payer_name: Text.describe('Label of that key'),
    payer_root: Text.describe('Hash of the first key in the chain of rotations of `payer`'),
    destination_root: Text.describe('The same of the key that set the destination'),
    created: Time,
    updated: Time,
    delivered: z
      .array(z.object({ from: Height.describe('First height'), to: Height.describe('Last height') }))
      .max(1_000)
      .describe('Heights that were delivered'),
    phase: Text.describe('Phase of the delivery when it was exported'),
  })
  .meta({ id: 'ExportedPipeline' })
export type ExportedPipeline = z.infer<typeof ExportedPipeline>

export function exportedPipeline(row: PipelineRow, status: SinkStatus): ExportedPipeline {
  const { first, height, phase } = status
  const next = height === null ? first : height + 1
  return {
    id: row.id,
    account: row.account,
    fields: { ...row.fields, ...(next !== null && { execution_start_from: String(next) }) },
    sealed: row.sealed,
    creator: row.creator,
    creator_name: row.creatorName,
    payer: row.payer,
    payer_name: row.payerName,
    payer_root: row.payerRoot,
    destination_root: row.destinationRoot,
    created: row.createdMs,
    updated: row.updatedMs,
    delivered: [...deliveredHeights(row, status)],
    phase,
  }
}

function deliveredHeights(
  { backfilled }: PipelineRow,
  { first, height, earlier = [] }: SinkStatus,
): readonly HeightRange[] {
  const own = first === null || height === null ? [] : [{ from: first, to: height }]
  return withinLimit([...earlier, ...own].reduce(withRange, backfilled))
}

/** The row of an imported pipeline, which its object does not have yet. */
export function importedRow({ id, account, fields, sealed, creator, payer, ...rest }: ExportedPipeline): PipelineRow {
  return {
    id,
    account,
    fields,
    sealed,
    creator,
    creatorName: rest.creator_name,
    payer,
    payerName: rest.payer_name,
    payerRoot: rest.payer_root,
    destinationRoot: rest.destination_root,
    revision: 1,
    sentRevision: 0,
    createdMs: rest.created,
    updatedMs: rest.updated,
    isRemoved: false,
    backfillOf: null,
    backfillRequest: null,
    backfilled: rest.delivered,
  }
}
