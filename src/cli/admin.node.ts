// `npm run admin -- …`: the operator's commands on the feed, the archive, on plans, accounts, keys, orders and webhooks.

import type { Command } from '@commander-js/extra-typings'
import { runProgram } from '../core/command-line.node.ts'
import { keyCommands } from './account-keys.node.ts'
import { accountCommands } from './accounts.node.ts'
import { feedCommands } from './feed.node.ts'
import { historyCommands } from './history.node.ts'
import { orderCommands } from './orders.node.ts'
import { planCommands } from './plans.node.ts'
import { actsIn, gatewayProgram, processShell, type Shell } from './shell.node.ts'
import { staffCommands } from './staff.node.ts'
import { usageCommand } from './usage.node.ts'
import { webhookCommands } from './webhooks.node.ts'

/** The program, on a shell. */
export function adminProgram(shell: Shell): Command {
  const admin = gatewayProgram('npm run admin --', "the operator's commands on a gateway")
  const act = actsIn(shell)
  feedCommands(admin, act)
  historyCommands(admin, act)
  planCommands(admin, act)
  accountCommands(admin, act, shell.now)
  keyCommands(admin, act, shell.now)
  orderCommands(admin, act)
  webhookCommands(admin, act)
  usageCommand(admin, act)
  staffCommands(admin, act)
  return admin
}

if (import.meta.main) await runProgram(adminProgram(processShell()), process.argv.slice(2))
