// The Workers and their wrangler files, in deploy order: a Worker comes before those that bind it. The gateway comes
// last, because only the gateway is reachable from outside. The live Worker comes first, so that a gradual deploy that
// stops has changed nothing else.

export const WORKERS = {
  live: 'wrangler.live.toml',
  sql: 'wrangler.sql.toml',
  jobs: 'wrangler.jobs.toml',
  gateway: 'wrangler.toml',
} as const

export type WorkerRole = keyof typeof WORKERS

export const ROLES = Object.keys(WORKERS) as WorkerRole[]

/** Workers that only the archive, pipelines and order-level books need. */
const BACKGROUND: readonly WorkerRole[] = ['sql', 'jobs']

interface Bound {
  readonly durable_objects: { readonly bindings: readonly { readonly script_name?: string | undefined }[] }
}

/** The Workers to deploy, in order. Without a binding of the gateway to the jobs Worker, neither that nor the SQL Worker. */
export function deployedRoles(gateway: Bound, jobs: { readonly name?: string | undefined }): readonly WorkerRole[] {
  const hasJobs = gateway.durable_objects.bindings.some(({ script_name: script }) => script === jobs.name)
  return hasJobs ? ROLES : ROLES.filter((role) => !BACKGROUND.includes(role))
}
