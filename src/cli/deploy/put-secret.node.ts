// `weir deploy --secret NAME`: sets a secret of each Worker that reads it. Invariant: a secret that .secrets.json has is
// replaced there first.

import { nearestName } from '../../core/nearest.ts'
import { SECRET_MIN_LENGTH, secretFault } from '../../core/secret.ts'
import { readSecrets, writeSecrets } from '../secrets-file.node.ts'
import type { CloudflareApi } from './cloudflare-api.node.ts'
import { DeployError } from './deploy-error.ts'
import type { WorkerFiles } from './effective-file.ts'
import { secretOwners, WORKER_SECRETS } from './secret-owners.ts'
import type { Terminal } from './terminal.node.ts'

/** Those that Weir itself compares. Others have the form of their issuer. */
const LONG = ['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET', 'METRICS_TOKEN']

export interface SecretWork {
  readonly api: CloudflareApi
  readonly account: string
  readonly folder: string
  readonly workers: WorkerFiles
  readonly terminal: Terminal
  readonly note: (line: string) => void
}

export async function putSecret(
  name: string,
  { api, account, folder, workers, terminal, note }: SecretWork,
): Promise<void> {
  const owners = secretOwners(name, workers)
  if (owners.length === 0) {
    const meant = nearestName(name, WORKER_SECRETS)
    throw new DeployError(
      `${name} is not a secret of Weir. ${meant === undefined ? `Secrets: ${WORKER_SECRETS.join(', ')} and SOURCE_….` : `Did you mean ${meant}?`}`,
    )
  }
  const value = await terminal.secret(`Value of ${name}`)
  const fault = secretFault(value, LONG.includes(name) ? SECRET_MIN_LENGTH : 1)
  if (fault !== null) throw new DeployError(`The value of ${name} on standard input ${fault}.`)
  const { secrets, fault: damage } = readSecrets(folder)
  if (damage !== null) throw new DeployError(damage)
  if (secrets !== null && name in secrets) writeSecrets(folder, { ...secrets, [name]: value })
  for (const role of owners) {
    await api.putSecret(account, workers[role].name, name, value)
    note(`Set ${name} of ${workers[role].name}.`)
  }
}
