// Sink to PostgreSQL in workerd: through Hyperdrive, and directly to a server with a matching certificate.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../src/cli/launch/build.node.ts'
import type { AttemptResult } from '../../src/pipelines/destinations/batch.ts'
import { DEFAULTS, type DestinationConfig, type Pipeline } from '../../src/pipelines/pipeline.ts'
import { keyedRows } from '../../src/pipelines/topics/topic.ts'
import { hasPostgres, PASSWORD, type PostgresServer, startPostgres } from '../pipelines/destinations/postgres-server.ts'
import type { Order } from '../pipelines/destinations/sender.ts'

const ROOT = join(import.meta.dirname, '../..')
const BUNDLE = 'dist/sender'
const rows = keyedRows({ height: 7, time: 490 }, [
  ['a', { coin: 'BTC' }],
  ['b', { coin: 'ETH' }],
])
const batch = {
  id: 'pipe_a:7-7',
  pipeline: 'pipe_a',
  topic: 'fills',
  from: 7,
  to: 7,
  rows,
  columns: null,
  texts: rows.map((row) => JSON.stringify(row)),
}

describe.skipIf(!hasPostgres)('a table of PostgreSQL', () => {
  let server: PostgresServer
  let dispose: () => Promise<void>
  let post: (order: Order) => Promise<AttemptResult>

  beforeAll(async () => {
    server = await startPostgres('localhost')
    // Read as Miniflare is loaded.
    process.env.NODE_EXTRA_CA_CERTS = server.certificate
    const { convertV4MiniflareOptions, Miniflare } = await import('miniflare')
    const { bundledModules } = await import('../../src/cli/launch/miniflare-options.node.ts')
    mkdirSync(join(ROOT, BUNDLE), { recursive: true })
    await bundle(ROOT, 'test/pipelines/destinations/sender.toml', join(ROOT, BUNDLE))
    const login = (user: string) =>
      `postgres://${user}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/postgres`
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        ...bundledModules(join(ROOT, BUNDLE)),
        compatibilityDate: '2026-11-01',
        cf: false,
        hyperdrives: { FILLS_DB: login('weir'), OLD_DB: login('old'), OTHER_DB: login('weir') },
        telemetry: { enabled: false },
      }),
    )
    dispose = () => miniflare.dispose()
    post = async (order) => {
      const answer = await miniflare.dispatchFetch('http://sender/', { method: 'POST', body: JSON.stringify(order) })
      return (await answer.json()) as AttemptResult
    }
    server.query('CREATE TABLE fills (_key text PRIMARY KEY, _height bigint, coin text)')
    const hba = server.query('SHOW hba_file')[0]!
    server.query(`COPY (SELECT 'host all all all md5') TO '${hba}'`)
    server.query(`SELECT pg_reload_conf()`)
    server.query(
      `SET password_encryption = md5; CREATE ROLE old LOGIN PASSWORD '${PASSWORD}'; GRANT INSERT, SELECT ON fills TO old`,
    )
  }, 120_000)
  afterAll(async () => {
    await dispose?.()
    await server?.remove()
  })

  const send = (
    config: Extract<DestinationConfig, { type: 'postgres' }>,
    isPrivateAllowed: boolean,
    account = 'acme',
  ) =>
    post({
      settings: {
        PIPELINE_PRIVATE: isPrivateAllowed,
        PIPELINE_RESOLVER: 'http://127.0.0.1:1/',
        OWN_ZONES: [],
        PUBLIC_URL: '',
        PIPELINE_HYPERDRIVE: { FILLS_DB: ['acme'], OLD_DB: ['acme'], GONE_DB: ['acme'] },
      },
      pipeline: {
        ...DEFAULTS,
        id: 'pipe_a',
        account,
        topic: 'fills',
        destination_config: config,
      } as unknown as Pipeline,
      batch,
    })
  const hyperdrive = (name: string, account?: string) =>
    send({ type: 'postgres', url: `hyperdrive://${name}`, table: 'fills' }, false, account)
  const direct = (host: string) => {
    const url = `postgres://${host}:${server.port}`
    return send({ type: 'postgres', url, user: 'weir', password: PASSWORD, database: 'postgres', table: 'fills' }, true)
  }
  const emptied = () => {
    const keys = server.query('SELECT _key FROM fills ORDER BY _key')
    server.query('TRUNCATE fills')
    return keys
  }

  it.each(['FILLS_DB', 'OLD_DB'])('takes a batch once through the Hyperdrive %s of the operator', async (name) => {
    for (const _ of [1, 2]) expect(await hyperdrive(name)).toMatchObject({ ok: true })
    expect(emptied()).toEqual(['7:a', '7:b'])
  })

  it.each([
    ['FILLS_DB', 'other', /FILLS_DB.*PIPELINE_HYPERDRIVE/],
    ['OTHER_DB', 'acme', /OTHER_DB.*PIPELINE_HYPERDRIVE/],
    ['GONE_DB', 'acme', /GONE_DB.*weir\.toml/],
  ])('receives nothing through %s from the account %s', async (name, account, reason) => {
    expect(await hyperdrive(name, account)).toEqual({ ok: false, message: expect.stringMatching(reason) })
    expect(emptied()).toEqual([])
  })

  it('receives rows over TLS if the certificate matches the host name', async () => {
    expect(await direct('localhost')).toMatchObject({ ok: true })
    expect(emptied()).toEqual(['7:a', '7:b'])
    expect(await direct('127.0.0.1')).toMatchObject({ ok: false })
    expect(emptied()).toEqual([])
  })
})
