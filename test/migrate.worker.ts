import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

type Migrations = Parameters<typeof applyD1Migrations>[1]
type Name = 'ACCOUNTS' | 'HISTORY'
const { MIGRATIONS, ...bindings } = env as unknown as Record<Name, D1Database> & {
  MIGRATIONS: Record<Name, Migrations>
}
const isEmpty = async (db: D1Database) =>
  (await db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'd1_migrations'").first()) === null

await reset()
// Where work of the file before is still under way, a reset may leave what it holds open.
for (let tries = 1; !(await isEmpty(bindings.ACCOUNTS)); tries++) {
  if (tries === 10) throw new Error('storage of the test file before is still there')
  await reset()
}
for (const name of ['ACCOUNTS', 'HISTORY'] as const) await applyD1Migrations(bindings[name], MIGRATIONS[name])
