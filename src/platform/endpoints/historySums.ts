// GET /v1/{chain}/history/SHA256SUMS: what the files of a day must be.

import * as z from 'zod'
import { err } from '../../core/result.ts'
import { ONE_CREDIT } from '../../credit/tariff.ts'
import { filePage, sumsText } from '../../history/exports/listed-files.ts'
import { defineEndpoint, reply } from '../endpoint.ts'
import { CHAIN_PARAMS, historyOf, rangeOf } from '../history-shapes.ts'
import { badField } from '../refusal.ts'
import { Day } from '../usage-window.ts'

/** A day has some 3,000; where a clock is wrong, any number. */
const FILES_MOST = 20_000

export const historySums = defineEndpoint(
  {
    id: 'historySums',
    method: 'get',
    path: '/v1/{chain}/history/SHA256SUMS',
    summary: 'SHA-256 of every file of a UTC day',
    description:
      'As text that `sha256sum --check` reads: a line for each file whose first block is of the day, with its name.',
    door: 'key',
    product: 'data',
    price: ONE_CREDIT,
    params: CHAIN_PARAMS,
    query: z.strictObject({ day: Day }),
    answers: {
      200: {
        description: 'A line for each file',
        schema: z.string(),
        example: `${'a1'.repeat(32)}  archive/hyperliquid/2026-11-21/000925000000-000925000869.events.gz\n`,
      },
    },
    refusals: [400, 404],
  },
  async ({ params: { chain }, query }, platform) => {
    const history = historyOf(chain, platform)
    if (!history.ok) return history
    const range = rangeOf(query, 0, true)
    if (!range.ok) return range
    const { files, next } = await filePage(history.value.sources, range.value, null, FILES_MOST)
    if (next !== null) return err(badField('day', `has more than ${FILES_MOST} files: list them page by page`))
    return reply(200, sumsText(files))
  },
)
