// What `GET /status` answers of sources, field by field; status-shape.ts has the rest and the laws. An isolate tells of
// them as it sees them, and the log knows nothing of them.

import * as z from 'zod'
import { describeField } from '../../core/field-description.ts'

/** As it is published: nobody changes it. */
export type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T

/** What an isolate tells of its sources, and of whom it would ask. */
export const SourcesShape = z.object({
  sources: z
    .array(
      z.object({
        name: describeField(z.string(), 'from `UPSTREAMS`; addresses are never shown'),
        state: describeField(
          z.enum(['ok', 'resting']),
          '`resting`: left alone until `retryInMs` has passed',
          '`ok`',
          'see `lastFailure`',
        ),
        retryInMs: describeField(z.number(), 'until it is asked again, ms', '0'),
        failingTypes: describeField(
          z.array(z.string()),
          'info types for which alone it is left alone',
          'none',
          'take them out of its `types` where it does not serve them',
        ),
        lastSuccessMs: describeField(z.number().nullable(), 'when it last answered, Unix ms; null: not yet'),
        lastFailure: z
          .object({
            atMs: describeField(z.number(), 'when, Unix ms'),
            type: describeField(z.string(), 'info type that was asked'),
            reason: describeField(
              z.enum(['timeout', 'unreachable', 'busy', 'failed']),
              '`timeout`: no answer in time; `unreachable`: no connection; `busy`: asked for a pause; `failed`: answered with an error',
            ),
          })
          .nullable()
          .describe('its last failure; null: none yet.'),
        medianMs: describeField(z.number().nullable(), 'median of its last 32 answers, ms', 'below its `timeoutMs`'),
        lagMs: describeField(
          z.number().nullable(),
          'how late its own clock was when last seen, ms; null where it does not tell',
          'below its `maxLagMs`',
          'look at that node',
        ),
        late: describeField(z.boolean(), 'asked last because of `lagMs`', '`false`'),
        budget: z
          .object({
            perMinute: describeField(z.number(), 'weight a minute that it allows'),
            left: describeField(
              z.number().nullable(),
              'what may be sent now; null while the budget cannot be reached',
              'above 0',
              'see "A budget is always used up"',
            ),
          })
          .nullable()
          .describe('null: without one.'),
      }),
    )
    .describe('sources as the answering isolate sees them; budgets are shared by all.'),
  routes: z
    .record(
      z.string(),
      z.object({
        now: describeField(
          z.array(z.string()),
          'whom the info type would be asked of: names of sources, `own books` or `own history`',
          'one at least',
          'no source may be asked: see `sources`',
        ),
        next: describeField(z.array(z.string()), 'who is asked where that one fails'),
      }),
    )
    .describe('whom each info type would be asked of.'),
  chains: z
    .array(
      z.object({
        name: describeField(z.string(), 'from `RPC_CHAINS`'),
        height: describeField(
          z.number().nullable(),
          'the newest block that callers of JSON-RPC were told of; null: none yet',
          'grows with the chain where it is asked',
        ),
        nodes: z
          .array(
            z.object({
              state: describeField(
                z.enum(['ok', 'resting']),
                '`resting`: left alone until `retryInMs` has passed',
                '`ok`',
                'see `lastFailure`',
              ),
              retryInMs: describeField(z.number(), 'until it is asked again, ms', '0'),
              lastSuccessMs: describeField(z.number().nullable(), 'when it last answered, Unix ms; null: not yet'),
              lastFailure: z
                .object({
                  atMs: describeField(z.number(), 'when, Unix ms'),
                  reason: describeField(
                    z.enum(['timeout', 'unreachable', 'busy', 'failed']),
                    '`timeout`: no answer in time; `unreachable`: no connection; `busy`: asked for a pause; `failed`: answered with what is no answer, or refused our key',
                  ),
                })
                .nullable()
                .describe('its last failure; null: none yet.'),
            }),
          )
          .describe('its nodes in the order of `urls`; addresses are never shown.'),
      }),
    )
    .describe('chains of JSON-RPC as the answering isolate sees them.'),
})
export type SourcesStatus = Frozen<z.infer<typeof SourcesShape>>
