import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

type Migrations = Parameters<typeof applyD1Migrations>[1]
type Name = 'ACCOUNTS' | 'HISTORY'
const { MIGRATIONS, ...bindings } = env as unknown as Record<Name, D1Database> & {
  MIGRATIONS: Record<Name, Migrations>
}
await reset()
for (const name of ['ACCOUNTS', 'HISTORY'] as const) await applyD1Migrations(bindings[name], MIGRATIONS[name])
