// The Workers and their wrangler files, in the order in which they are deployed: one that others bind comes before them.
// The gateway comes last, since it alone is reached from outside.

export const WORKERS = { sql: 'wrangler.sql.toml', live: 'wrangler.live.toml', gateway: 'wrangler.toml' } as const

export type WorkerRole = keyof typeof WORKERS

export const ROLES = Object.keys(WORKERS) as WorkerRole[]
