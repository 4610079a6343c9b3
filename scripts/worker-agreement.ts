// Checks the wrangler files. The Workers are deployed separately, so their files must agree on shared variables, the
// compatibility date, the classes of the Durable Objects, the stores of the archive and each other's names. Each file
// must also have the settings that keep its Worker private. When run as a program, it prints each fault and exits with
// 1.

import { fileURLToPath } from 'node:url'
import { unstable_readConfig } from 'wrangler'
import { deployedRoles, ROLES, WORKERS, type WorkerRole } from '../src/cli/deploy/workers.ts'

/** The part of a wrangler file that the Workers share. */
export interface WorkerConfig {
  readonly name?: string | undefined
  readonly compatibility_date?: string | undefined
  readonly compatibility_flags?: readonly string[] | undefined
  readonly preview_urls?: boolean | undefined
  readonly observability?:
    | { readonly logs?: { readonly invocation_logs?: boolean }; readonly traces?: { readonly enabled?: boolean } }
    | undefined
  readonly vars: Readonly<Record<string, unknown>>
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string; readonly script_name?: string }[]
  }
  readonly d1_databases?: readonly { readonly binding: string; readonly database_id?: string }[] | undefined
  readonly r2_buckets?: readonly { readonly binding: string; readonly bucket_name?: string }[] | undefined
  readonly services?: readonly { readonly binding: string; readonly service: string }[] | undefined
}

/** One line for each setting of a file that exposes a Worker. */
export function openSettings(file: string, config: WorkerConfig): string[] {
  const { compatibility_flags: flags = [], preview_urls: previews, observability } = config
  const lines = [
    flags.includes('global_fetch_strictly_public')
      ? null
      : 'add "global_fetch_strictly_public" to compatibility_flags. Without it, customers\' URLs can reach origins of your zone behind its firewall',
    previews === false
      ? null
      : 'preview_urls must be false. Otherwise every deployed version stays public, with access to current data',
    observability?.logs?.invocation_logs === false
      ? null
      : 'observability.logs.invocation_logs must be false. Otherwise request logs store keys that are part of URLs',
    observability?.traces?.enabled === false
      ? null
      : 'observability.traces.enabled must be false. Otherwise traces store keys that are part of URLs',
  ]
  return lines.filter((line) => line !== null).map((line) => `${file}: ${line}`)
}

/** One line for each difference between the files. */
export function disagreements({ gateway, live, jobs, sql }: Readonly<Record<WorkerRole, WorkerConfig>>): string[] {
  const files = deployedRoles(gateway, jobs)
  const objects = ({ durable_objects: { bindings } }: WorkerConfig) =>
    bindings.map(({ name, class_name }) => `${name}=${class_name}`).sort()
  // A binding without a name counts as present: '' differs from undefined.
  const archive = ({ d1_databases: databases = [], r2_buckets: buckets = [] }: WorkerConfig) => ({
    HISTORY: databases.filter(({ binding }) => binding === 'HISTORY').map((one) => one.database_id ?? '')[0],
    ARCHIVE: buckets.filter(({ binding }) => binding === 'ARCHIVE').map((one) => one.bucket_name ?? '')[0],
  })
  const differences = (other: WorkerConfig, role: WorkerRole) => {
    const differs = (setting: string, expected: unknown, found: unknown) =>
      mismatch(setting, ['gateway', expected], [role, found])
    const shared = Object.keys(gateway.vars).filter((name) => name in other.vars)
    return [
      ...shared.map((name) => variableMismatch(name, gateway.vars[name], other.vars[name], role)),
      differs('compatibility_date', gateway.compatibility_date, other.compatibility_date),
      differs('durable_objects', objects(gateway).join(), objects(other).join()),
      ...(['HISTORY', 'ARCHIVE'] as const).map((name) => differs(name, archive(gateway)[name], archive(other)[name])),
      ...other.durable_objects.bindings.map(({ name, script_name: script }) => {
        const owner = gateway.durable_objects.bindings.find((one) => one.name === name)?.script_name
        return owner === undefined ? null : differs(`script_name of ${name}`, owner, script ?? other.name)
      }),
      differs('service of GATEWAY', gateway.name, serviceOf(other, 'GATEWAY')),
    ]
  }
  const owners = [live.name, ...(files.includes('jobs') ? [jobs.name] : [])]
  return [
    ...gateway.durable_objects.bindings.map(({ name, script_name: script }) =>
      owners.includes(script) ? null : `script_name of ${name}: ${valueText(script)} is none of ${owners.join(', ')}`,
    ),
    ...differences(live, 'live'),
    ...(files.includes('jobs')
      ? [
          ...differences(jobs, 'jobs'),
          mismatch('PIPELINE_RESOLVER', ['live', live.vars.PIPELINE_RESOLVER], ['jobs', jobs.vars.PIPELINE_RESOLVER]),
          mismatch('service of SQL', ['sql', sql.name], ['jobs', serviceOf(jobs, 'SQL')]),
          mismatch('compatibility_date', ['sql', sql.compatibility_date], ['jobs', jobs.compatibility_date]),
        ]
      : []),
  ].filter((line) => line !== null)
}

function serviceOf({ services = [] }: WorkerConfig, name: string): string | undefined {
  return services.find(({ binding }) => binding === name)?.service
}

/** URLs of nodes can contain keys, so the values are not shown. */
function variableMismatch(name: string, gateway: unknown, other: unknown, role: WorkerRole): string | null {
  const line = mismatch(name, ['gateway', gateway], [role, other])
  return line !== null && name === 'RPC_CHAINS'
    ? `${name}: ${WORKERS.gateway} and ${WORKERS[role]} have different values`
    : line
}

type RoleAndValue = readonly [role: WorkerRole, value: unknown]

function mismatch(setting: string, [role, value]: RoleAndValue, [otherRole, other]: RoleAndValue): string | null {
  return value === other
    ? null
    : `${setting}: ${WORKERS[role]} has ${valueText(value)}, ${WORKERS[otherRole]} has ${valueText(other)}`
}

const valueText = (value: unknown) => JSON.stringify(value) ?? 'nothing'

type Configs = Readonly<Record<WorkerRole, ReturnType<typeof unstable_readConfig>>>

/** Reads all wrangler files. Throws one line for each that cannot be read: its name and wrangler's message. */
export function readConfigs(): Configs {
  const read = ROLES.map((role) => [role, configOrError(WORKERS[role])] as const)
  const errors = read.flatMap(([, one]) => (typeof one === 'string' ? [one] : []))
  if (errors.length > 0) throw new Error(errors.join('\n'))
  return Object.fromEntries(read) as unknown as Configs
}

function configOrError(config: string) {
  try {
    return unstable_readConfig({ config })
  } catch (error) {
    return `${config}: ${error instanceof Error ? error.message : String(error)}`
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const configs = readConfigs()
  const lines = [...disagreements(configs), ...ROLES.flatMap((role) => openSettings(WORKERS[role], configs[role]))]
  for (const line of lines) console.error(line)
  process.exit(lines.length > 0 ? 1 : 0)
}
