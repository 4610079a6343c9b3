// What the wrangler files must say alike, because the Workers are deployed apart and reach each other by it:
// variables of the same name, the compatibility date, the classes of the objects, where the archive is, and each other's
// names. Prints what differs and exits 1.

import { fileURLToPath } from 'node:url'
import { unstable_readConfig } from 'wrangler'

/** As much of a wrangler file as the Workers share. */
export interface WorkerConfig {
  readonly name?: string | undefined
  readonly compatibility_date?: string | undefined
  readonly vars: Readonly<Record<string, unknown>>
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string; readonly script_name?: string }[]
  }
  readonly d1_databases?: readonly { readonly binding: string; readonly database_id?: string }[] | undefined
  readonly r2_buckets?: readonly { readonly binding: string; readonly bucket_name?: string }[] | undefined
  readonly services?: readonly { readonly binding: string; readonly service: string }[] | undefined
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
    ...shared.map((name) => differingVariable(name, gateway.vars[name], live.vars[name])),
    differing('compatibility_date', gateway.compatibility_date, live.compatibility_date),
    differing('durable_objects', objects(gateway).join(), objects(live).join()),
    ...(['HISTORY', 'ARCHIVE'] as const).map((name) => differing(name, archive(gateway)[name], archive(live)[name])),
    ...gateway.durable_objects.bindings.map(({ name, script_name: script }) =>
      differing(`script_name of ${name}`, script, live.name),
    ),
    ...(['GATEWAY', 'SQL'] as const).map((name) => {
      const bound = live.services?.find(({ binding }) => binding === name)?.service
      return differing(`service of ${name}`, (name === 'SQL' ? sql : gateway).name, bound)
    }),
    differing('compatibility_date of wrangler.sql.toml', sql.compatibility_date, live.compatibility_date),
  ].filter((line) => line !== null)
}

/** Addresses of nodes may hold keys: they are not shown. */
function differingVariable(name: string, gateway: unknown, live: unknown): string | null {
  const line = differing(name, gateway, live)
  return line !== null && name === 'RPC_CHAINS' ? `${name}: the two files have different values` : line
}

function differing(what: string, gateway: unknown, live: unknown): string | null {
  return gateway === live ? null : `${what}: the gateway's file has ${text(gateway)}, the live one's ${text(live)}`
}

const text = (value: unknown) => JSON.stringify(value) ?? 'nothing'

/** All wrangler files, the gateway's first. Throws with the file's name and wrangler's words where one cannot be read. */
export function readConfigs() {
  return {
    gateway: readConfig('wrangler.toml'),
    live: readConfig('wrangler.live.toml'),
    sql: readConfig('wrangler.sql.toml'),
  }
}

function readConfig(config: string) {
  try {
    return unstable_readConfig({ config })
  } catch (error) {
    throw new Error(`${config}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { gateway, live, sql } = readConfigs()
  const lines = disagreements(gateway, live, sql)
  for (const line of lines) console.error(line)
  process.exit(lines.length > 0 ? 1 : 0)
}
