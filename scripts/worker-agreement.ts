// What the wrangler files must say. Alike, because the Workers are deployed apart and reach each other by it: variables
// of the same name, the compatibility date, the classes of the objects, where the archive is, and each other's names.
// And each for itself: settings that keep it closed. Prints what is wrong and exits 1.

import { fileURLToPath } from 'node:url'
import { unstable_readConfig } from 'wrangler'
import { ROLES, WORKERS, type WorkerRole } from './workers.ts'

/** As much of a wrangler file as the Workers share. */
export interface WorkerConfig {
  readonly name?: string | undefined
  readonly compatibility_date?: string | undefined
  readonly compatibility_flags?: readonly string[] | undefined
  readonly preview_urls?: boolean | undefined
  readonly observability?: { readonly logs?: { readonly invocation_logs?: boolean } } | undefined
  readonly vars: Readonly<Record<string, unknown>>
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string; readonly script_name?: string }[]
  }
  readonly d1_databases?: readonly { readonly binding: string; readonly database_id?: string }[] | undefined
  readonly r2_buckets?: readonly { readonly binding: string; readonly bucket_name?: string }[] | undefined
  readonly services?: readonly { readonly binding: string; readonly service: string }[] | undefined
}

/** A line for each setting of one file that leaves open what must be closed. */
export function openSettings(file: string, config: WorkerConfig): string[] {
  const { compatibility_flags: flags = [], preview_urls: previews, observability } = config
  const lines = [
    flags.includes('global_fetch_strictly_public')
      ? null
      : 'compatibility_flags lacks "global_fetch_strictly_public": URLs of customers would reach origins of your own zone past its firewall',
    previews === false
      ? null
      : 'preview_urls must be false: every version ever deployed would stay public, with the data of the present one',
    observability?.logs?.invocation_logs === false
      ? null
      : 'observability.logs.invocation_logs must be false: request logs would store the keys that travel in URLs',
  ]
  return lines.filter((line) => line !== null).map((line) => `${file}: ${line}`)
}

/** A line for each thing that the files of gateway and live Worker say differently; `sql`: what runs the SQL of the latter. */
export function disagreements(
  gateway: WorkerConfig,
  live: WorkerConfig,
  sql: Pick<WorkerConfig, 'name' | 'compatibility_date'>,
): string[] {
  const objects = ({ durable_objects: { bindings } }: WorkerConfig) =>
    bindings.map(({ name, class_name }) => `${name}=${class_name}`).sort()
  // One that is bound without a name is another thing than none.
  const archive = ({ d1_databases: databases = [], r2_buckets: buckets = [] }: WorkerConfig) => ({
    HISTORY: databases.filter(({ binding }) => binding === 'HISTORY').map((one) => one.database_id ?? '')[0],
    ARCHIVE: buckets.filter(({ binding }) => binding === 'ARCHIVE').map((one) => one.bucket_name ?? '')[0],
  })
  const shared = Object.keys(gateway.vars).filter((name) => name in live.vars)
  return [
    ...shared.map((name) => variableMismatch(name, gateway.vars[name], live.vars[name])),
    mismatch('compatibility_date', gateway.compatibility_date, live.compatibility_date),
    mismatch('durable_objects', objects(gateway).join(), objects(live).join()),
    ...(['HISTORY', 'ARCHIVE'] as const).map((name) => mismatch(name, archive(gateway)[name], archive(live)[name])),
    ...gateway.durable_objects.bindings.map(({ name, script_name: script }) =>
      mismatch(`script_name of ${name}`, script, live.name),
    ),
    ...(['GATEWAY', 'SQL'] as const).map((name) => {
      const bound = live.services?.find(({ binding }) => binding === name)?.service
      return mismatch(`service of ${name}`, (name === 'SQL' ? sql : gateway).name, bound)
    }),
    mismatch('compatibility_date of wrangler.sql.toml', sql.compatibility_date, live.compatibility_date),
  ].filter((line) => line !== null)
}

/** Addresses of nodes may hold keys: they are not shown. */
function variableMismatch(name: string, gateway: unknown, live: unknown): string | null {
  const line = mismatch(name, gateway, live)
  return line !== null && name === 'RPC_CHAINS' ? `${name}: the two files have different values` : line
}

function mismatch(what: string, gateway: unknown, live: unknown): string | null {
  return gateway === live
    ? null
    : `${what}: the gateway's file has ${valueText(gateway)}, the live one's ${valueText(live)}`
}

const valueText = (value: unknown) => JSON.stringify(value) ?? 'nothing'

type Configs = Readonly<Record<WorkerRole, ReturnType<typeof unstable_readConfig>>>

/** All wrangler files. Throws with a line for each that cannot be read: its name, and wrangler's words. */
export function readConfigs(): Configs {
  const read = ROLES.map((role) => [role, configOrError(WORKERS[role])] as const)
  const words = read.flatMap(([, one]) => (typeof one === 'string' ? [one] : []))
  if (words.length > 0) throw new Error(words.join('\n'))
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
  const lines = [
    ...disagreements(configs.gateway, configs.live, configs.sql),
    ...ROLES.flatMap((role) => openSettings(WORKERS[role], configs[role])),
  ]
  for (const line of lines) console.error(line)
  process.exit(lines.length > 0 ? 1 : 0)
}
