// `npx weir admin incident …`: incidents and planned maintenance on the status page.

import type { Command } from '@commander-js/extra-typings'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { type CommandAction, showResponse } from './shell.node.ts'
import { ListValue, TimeValue } from './values.ts'

const COMPONENTS_HELP = 'components concerned, such as api,streams'
const MESSAGE_HELP = 'message for customers'

/** Adds the commands of `incident` to the operator's program. */
export function incidentCommands(admin: Command, act: CommandAction): void {
  const group = describeCommand(admin.command('incident'), 'post incidents and maintenance on the status page')
  describeCommand(group.command('list'), 'list incidents and maintenance, newest first', ['']).action(
    act((gateway) => showResponse(gateway, 'GET', '/admin/incidents')),
  )
  describeCommand(group.command('open'), 'post a new incident', ['Delays --components streams --message Investigating'])
    .argument('<title>', 'title for customers')
    .requiredOption('--message <text>', MESSAGE_HELP)
    .option('--set <state>', 'investigating, identified, monitoring or resolved', 'investigating')
    .option('--components <list>', COMPONENTS_HELP, valueParser(ListValue), [])
    .action(
      act((gateway, title, { set: state, ...options }) =>
        showResponse(gateway, 'POST', '/admin/incidents', { kind: 'incident', title, state, ...options }),
      ),
    )
  describeCommand(group.command('plan'), 'announce maintenance', [
    'Upgrade --message Planned --starts 2027-01-31T12:00Z --ends 2027-01-31T13:00Z',
  ])
    .argument('<title>', 'title for customers')
    .requiredOption('--message <text>', MESSAGE_HELP)
    .requiredOption('--starts <time>', 'start of the window', valueParser(TimeValue))
    .requiredOption('--ends <time>', 'end of the window', valueParser(TimeValue))
    .option('--components <list>', COMPONENTS_HELP, valueParser(ListValue), [])
    .action(
      act((gateway, title, options) => {
        const body = { kind: 'maintenance', state: 'scheduled', title, ...options }
        return showResponse(gateway, 'POST', '/admin/incidents', body)
      }),
    )
  describeCommand(group.command('update'), 'add an update; resolved and completed close', [
    '12 --set resolved --message Fixed',
  ])
    .argument('<number>', 'number of the incident')
    .requiredOption('--set <state>', 'state from now on, such as monitoring, resolved, in_progress or completed')
    .requiredOption('--message <text>', MESSAGE_HELP)
    .option('--starts <time>', 'new start of the maintenance window', valueParser(TimeValue))
    .option('--ends <time>', 'new end of the maintenance window', valueParser(TimeValue))
    .action(
      act((gateway, number, { set: state, ...options }) =>
        showResponse(gateway, 'POST', `/admin/incidents/${encodeURIComponent(number)}/updates`, { state, ...options }),
      ),
    )
  describeCommand(group.command('remove'), 'remove an incident that was posted by mistake', ['12'])
    .argument('<number>', 'number of the incident')
    .action(act((gateway, number) => showResponse(gateway, 'DELETE', `/admin/incidents/${encodeURIComponent(number)}`)))
}
