// A pipeline continues after the last block that its destination confirmed, and knows what was delivered before.

import { expect, it } from 'vitest'
import { manifestOf } from '../../src/cli/move/export-manifest.ts'
import { keyHashOf } from '../../src/core/ids.ts'
import { ExportedPipeline, exportedPipeline, importedRow } from '../../src/pipelines/exported-pipeline.ts'
import { DEFAULTS } from '../../src/pipelines/pipeline.ts'
import type { PipelineRow } from '../../src/pipelines/pipeline-row.ts'
import { IDLE } from './fake-sinks.ts'

const ROW: PipelineRow = {
  id: 'pipe_a',
  account: 'acme',
  fields: {
    ...DEFAULTS,
    name: 'fills',
    topic: 'fills',
    execution_start_from: 'earliest',
    destination_type: 'webhook',
    destination_config: { type: 'webhook', url: 'https://example.com/', secret: '******' },
  },
  sealed: '1.nonce.cipher',
  creator: 'c1',
  creatorName: 'manager',
  payer: keyHashOf('p2'),
  payerName: 'rotated',
  payerRoot: 'p1',
  destinationRoot: 'd1',
  revision: 7,
  sentRevision: 7,
  createdMs: 1,
  updatedMs: 2,
  isRemoved: false,
  backfillOf: null,
  backfillRequest: null,
  backfilled: [{ from: 10, to: 19 }],
}

it.each([
  ['after the last confirmed block', { first: 20, height: 99 }, '100', [{ from: 10, to: 99 }]],
  ['at the first block that was read, if none is confirmed', { first: 40 }, '40', [{ from: 10, to: 19 }]],
  ['where it would have begun, if nothing was read', {}, 'earliest', [{ from: 10, to: 19 }]],
  [
    'with the blocks of an earlier start',
    { first: 50, height: 60, earlier: [{ from: 30, to: 35 }] },
    '61',
    [
      { from: 10, to: 19 },
      { from: 30, to: 35 },
      { from: 50, to: 60 },
    ],
  ],
])('continues %s', (_, status, start, delivered) => {
  const exported = exportedPipeline(ROW, { ...IDLE, ...status })
  expect([exported.fields.execution_start_from, exported.delivered]).toEqual([start, delivered])
})

it('keeps everything else, as JSON, and is new to its worker', () => {
  const sent = JSON.parse(JSON.stringify(exportedPipeline(ROW, IDLE))) as object
  expect(importedRow(ExportedPipeline.parse(sent))).toEqual({ ...ROW, revision: 1, sentRevision: 0 })
})

const FACTS = { bytes: 1, sha256: 'a1'.repeat(32) }
const MANIFEST = {
  version: '0.2.0',
  atMs: 1,
  keySecretHash: null,
  isStopped: true,
  files: { plans: FACTS, accounts: FACTS, pipelines: FACTS },
  objects: 0,
}
it.each([
  ['no manifest', null, /no complete manifest/],
  ['an incomplete manifest', { ...MANIFEST, files: { plans: FACTS } }, /no complete manifest/],
  ['a newer version', { ...MANIFEST, version: '0.10.0' }, /made by Weir 0\.10\.0/],
])('an export with %s is refused', (_, manifest, words) => {
  expect(manifestOf(manifest, '0.2.0')).toMatch(words)
})

it('an export of this or an older version is accepted', () => {
  expect(manifestOf(MANIFEST, '0.2.0')).toEqual(MANIFEST)
  expect(manifestOf(MANIFEST, '0.3.0')).toEqual(MANIFEST)
})
