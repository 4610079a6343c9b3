import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

type Migrations = Parameters<typeof applyD1Migrations>[1]
const bindings = env as unknown as { ACCOUNTS: D1Database; MIGRATIONS: Migrations }
await applyD1Migrations(bindings.ACCOUNTS, bindings.MIGRATIONS)
