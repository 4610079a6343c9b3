// Which Workers read a secret.

import { optionalSecrets } from './deploy-checks.ts'
import type { WorkerFiles } from './effective-file.ts'
import { deployedRoles, type WorkerRole } from './workers.ts'

const OWNERS: Readonly<Record<string, WorkerRole>> = {
  ADMIN_TOKEN: 'gateway',
  FEED_TOKEN: 'gateway',
  KEY_SECRET: 'gateway',
  METRICS_TOKEN: 'gateway',
  STRIPE_SECRET_KEY: 'gateway',
  STRIPE_WEBHOOK_SECRET: 'gateway',
  SIGNUP_MAILER_TOKEN: 'gateway',
  SIGNUP_TURNSTILE_SECRET: 'gateway',
  ALERT_SECRET: 'live',
  X402_FACILITATOR_TOKEN: 'live',
}

/** Names of all secrets but those for headers of sources, `SOURCE_…`. */
export const WORKER_SECRETS = Object.keys(OWNERS)

/** Empty if no Worker reads a secret of this name. */
export function secretOwners(name: string, workers: WorkerFiles): WorkerRole[] {
  const owner = OWNERS[name]
  if (owner !== undefined) return [owner]
  if (!name.startsWith('SOURCE_')) return []
  const hasJobs = deployedRoles(workers.gateway, workers.jobs).includes('jobs')
  return hasJobs && optionalSecrets('jobs', workers.jobs.vars).includes(name) ? ['gateway', 'jobs'] : ['gateway']
}
