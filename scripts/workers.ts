// The Workers and their wrangler files, in deploy order: a Worker comes before those that bind it. The gateway comes
// last, because only the gateway is reachable from outside.

export const WORKERS = { sql: 'wrangler.sql.toml', live: 'wrangler.live.toml', gateway: 'wrangler.toml' } as const

export type WorkerRole = keyof typeof WORKERS

export const ROLES = Object.keys(WORKERS) as WorkerRole[]
