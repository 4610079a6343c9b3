import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

type Migrations = Parameters<typeof applyD1Migrations>[1]
const NAMES = ['ACCOUNTS', 'USAGE', 'HISTORY'] as const
type Name = (typeof NAMES)[number]
const { MIGRATIONS, ...bindings } = env as unknown as Record<Name, D1Database> & {
  MIGRATIONS: Record<Name, Migrations>
}
const isEmpty = async (db: D1Database) =>
  (await db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'd1_migrations'").first()) === null

await reset()
// If work of the previous file is still running, a reset may leave its open handles behind.
for (let tries = 1; !(await isEmpty(bindings.ACCOUNTS)); tries++) {
  if (tries === 10) throw new Error('storage of the previous test file still exists')
  await reset()
}
for (const name of NAMES) await applyD1Migrations(bindings[name], MIGRATIONS[name])
