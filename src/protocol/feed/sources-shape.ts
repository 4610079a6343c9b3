// Source fields of `GET /status`; status-shape.ts has the rest. The responding isolate describes its sources as it sees
// them, because the log does not know them.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'

/** Published values are deeply read-only. */
export type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

/** Sources and routes of one isolate. */
export const SourcesShape = z.object({
  sources: z
    .array(
      z.object({
        name: describeField(z.string(), 'name from `UPSTREAMS`; addresses are never shown'),
        state: describeField(
          z.enum(['ok', 'resting']),
          '`resting`: paused until `retryInMs` has passed',
          '`ok`',
          'see `lastFailure`',
        ),
        retryInMs: describeField(z.number(), 'time until the next request, ms', '0'),
        failingTypes: describeField(
          z.array(z.string()),
          'info types for which only this source is paused',
          'none',
          'if the source does not serve them, remove them from its `types`',
        ),
        lastSuccessMs: describeField(
          z.number().nullable(),
          'time of the last successful response, Unix ms; null: none yet',
        ),
        lastFailure: z
          .object({
            atMs: describeField(z.number(), 'time of the failure, Unix ms'),
            type: describeField(z.string(), 'requested info type'),
            reason: describeField(
              z.enum(['timeout', 'unreachable', 'busy', 'failed']),
              '`timeout`: no response in time; `unreachable`: no connection; `busy`: it requested a pause; `failed`: it returned an error',
            ),
          })
          .nullable()
          .describe('last failure; null: none yet.'),
        medianMs: describeField(
          z.number().nullable(),
          'median of the last 32 response times, ms',
          'below its `timeoutMs`',
        ),
        lagMs: describeField(
          z.number().nullable(),
          'lag of its clock when last checked, ms; null: unknown',
          'below its `maxLagMs`',
          'check that node',
        ),
        late: describeField(z.boolean(), 'whether it is used last because of `lagMs`', '`false`'),
        budget: z
          .object({
            perMinute: describeField(z.number(), 'allowed weight per minute'),
            left: describeField(
              z.number().nullable(),
              'weight available now; null while the budget is unreachable',
              'above 0',
              'see "A budget is always used up"',
            ),
          })
          .nullable()
          .describe('budget; null if the source has no budget.'),
      }),
    )
    .describe('sources as seen by the responding isolate; budgets are shared by all isolates.'),
  routes: z
    .record(
      z.string(),
      z.object({
        now: describeField(
          z.array(z.string()),
          'first choice for the info type: names of sources, `own books` or `own history`',
          'at least one',
          'no source is available: see `sources`',
        ),
        next: describeField(z.array(z.string()), 'fallback sources in order'),
      }),
    )
    .describe('routing of each info type.'),
  chains: z
    .array(
      z.object({
        name: describeField(z.string(), 'from `RPC_CHAINS`'),
        height: describeField(
          z.number().nullable(),
          'newest block reported to JSON-RPC callers; null: none yet',
          'grows with the chain while it is queried',
        ),
        nodes: z
          .array(
            z.object({
              state: describeField(
                z.enum(['ok', 'resting']),
                '`resting`: paused until `retryInMs` has passed',
                '`ok`',
                'see `lastFailure`',
              ),
              retryInMs: describeField(z.number(), 'time until the next request, ms', '0'),
              lastSuccessMs: describeField(
                z.number().nullable(),
                'time of the last successful response, Unix ms; null: none yet',
              ),
              lastFailure: z
                .object({
                  atMs: describeField(z.number(), 'time of the failure, Unix ms'),
                  reason: describeField(
                    z.enum(['timeout', 'unreachable', 'busy', 'failed']),
                    '`timeout`: no response in time; `unreachable`: no connection; `busy`: it requested a pause; `failed`: it returned an invalid response, or rejected our key',
                  ),
                })
                .nullable()
                .describe('last failure; null: none yet.'),
            }),
          )
          .describe('nodes in the order of `urls`; addresses are never shown.'),
      }),
    )
    .describe('JSON-RPC chains as seen by the responding isolate.'),
})
export type SourcesStatus = Frozen<z.infer<typeof SourcesShape>>
