// POST /admin/history/backfill.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { Height } from '../../feed/block.ts'
import { BACKFILL_BYTES, BackfillText } from '../../history/archive/backfill-lines.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { NO_ARCHIVE } from '../refusal.ts'

const EMPTY =
  'the log has archived no block here yet, and what is older than its first is unknown: start a feeder, and send this a minute later'

const full = (bytes: number, most: number) =>
  `the archive has ${Math.round(bytes / 1e6)} of the ${Math.round(most / 1e6)} MB that ARCHIVE_KEEP_MB lets it keep, and what is oldest goes first: raise it, deploy, and send this again`

export const backfill = defineEndpoint(
  {
    id: 'backfill',
    method: 'post',
    path: '/admin/history/backfill',
    summary: 'Put blocks that are older than the archive into it',
    description:
      'The body is gzip of lines of events as the archive has them, in order of height, a block each: at most 20 MiB unpacked, and 100,000 heights from the first to the last. Heights that are there, or that the log archives itself, are passed over; those that are left out are gaps. Nothing of a body with a bad line is taken.',
    door: 'admin',
    body: {
      schema: BackfillText,
      optional: false,
      example:
        '{"only":"fills","epoch":null,"v":1,"t":"events","height":985148182,"time":1778002753024,"fills":[],"ledger":[],"funding":[]}',
      gzipBytes: BACKFILL_BYTES,
    },
    answers: {
      200: {
        description: 'What is new by it',
        schema: z.object({
          blocks: z.int().describe('Blocks that were not there'),
          segments: z.int().describe('Segments that they make'),
          bytes: z.int().describe('What these take'),
          next: Height.nullable().describe('Blocks from this height on are to be sent again; null: none'),
        }),
        example: { blocks: 888, segments: 1, bytes: 210000, next: null },
      },
    },
    refusals: [409],
  },
  async ({ body: blocks }, { archive }) => {
    if (archive === null) return err(NO_ARCHIVE)
    const answer = await archive.backfill(blocks)
    if (!('refused' in answer)) return reply(200, answer)
    const message = answer.refused === 'empty' ? EMPTY : full(answer.bytes, answer.mostBytes)
    return err({ kind: 'conflict', message })
  },
)
