// `npm run admin -- feed …`: the log of blocks, as a gateway tells of it, and its reset.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { described } from '../core/command-line.node.ts'
import { err, ok } from '../core/result.ts'
import { feedLines, Status } from './feed-status.ts'
import type { Act } from './shell.node.ts'
import { table } from './table.node.ts'

const Reset = z.object({ reset: z.literal(true) })

/** Adds the commands of `feed` to the operator's program. */
export function feedCommands(admin: Command, act: Act): void {
  const group = described(admin.command('feed'), 'where the log of blocks stands')
  described(group.command('status'), 'how late the log is, its feeders, readers and gaps', ['']).action(
    act(async (gateway) => {
      const answer = await gateway.ask('GET', '/status', z.looseObject({}))
      if (!answer.ok) return answer
      const status = Status.safeParse(answer.value)
      return status.success
        ? ok({ json: answer.value, text: table(feedLines(status.data)) })
        : err('/status is not in the form of a Weir gateway: check --url.')
    }),
  )
  described(
    group.command('reset'),
    'begins a new log, for a node that started over: books and heights begin anew, accounts and keys stay',
    [''],
  ).action(
    act(async (gateway) => {
      const answer = await gateway.ask('POST', '/admin/feed/reset', Reset)
      return answer.ok
        ? ok({ json: answer.value, text: 'The log is empty; the next feeder begins a new one.' })
        : answer
    }),
  )
}
