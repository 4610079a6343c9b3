// Starts the Worker of files with a separate bucket and database.

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { bundle } from '../../src/cli/launch/build.node.ts'
import { bundledModules } from '../../src/cli/launch/miniflare-options.node.ts'
import { scratch } from '../kit/program.ts'
import type { PageOrder, PageRead, PartOrder, SegmentOrder, Turn } from './counted/files-bench.ts'

const ROOT = join(import.meta.dirname, '../..')
const MIGRATIONS = join(ROOT, 'schemas/d1/history')

export class FilesWorker {
  readonly #miniflare: Miniflare
  readonly #origin: string
  readonly #folder: string

  private constructor(miniflare: Miniflare, origin: string, folder: string) {
    this.#miniflare = miniflare
    this.#origin = origin
    this.#folder = folder
  }

  /** `objectBytes`: that are read for an object of a file, where they are to be others than they are. */
  static async start(chain: string, objectBytes?: number): Promise<FilesWorker> {
    const out = join(ROOT, 'dist/bench/files')
    await bundle(ROOT, 'wrangler.live.toml', out, 'test/bench/counted/files.worker.ts')
    const folder = scratch().path
    process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        name: 'files',
        ...bundledModules(out),
        compatibilityDate: '2026-11-01',
        bindings: { CHAIN: chain, OBJECT_BYTES: objectBytes === undefined ? '' : String(objectBytes) },
        r2Buckets: ['ARCHIVE'],
        d1Databases: ['HISTORY'],
        r2Persist: join(folder, 'r2'),
        d1Persist: join(folder, 'd1'),
        cf: false,
        telemetry: { enabled: false },
        log: new Log(LogLevel.WARN),
      }),
    )
    const { origin } = await miniflare.ready
    const worker = new FilesWorker(miniflare, origin, folder)
    for (const file of readdirSync(MIGRATIONS).sort())
      await worker.execute(readFileSync(join(MIGRATIONS, file), 'utf8').replaceAll(/^--.*$/gm, ''))
    return worker
  }

  async execute(sql: string): Promise<void> {
    const db = await this.#miniflare.getD1Database('HISTORY')
    for (const statement of sql.split(';')) if (statement.trim() !== '') await db.prepare(statement).run()
  }

  async archive(order: SegmentOrder): Promise<void> {
    await this.#ask('segment', JSON.stringify(order))
  }

  async turn(): Promise<Turn> {
    return (await (await this.#ask('turn')).json()) as Turn
  }

  /** The table may be empty. */
  async part(order: PartOrder, lines: readonly string[]): Promise<{ pageBytes: number; table: Uint8Array }> {
    const answer = await this.#ask(`part?order=${encodeURIComponent(JSON.stringify(order))}`, lines.join('\n'))
    return { pageBytes: Number(answer.headers.get('x-page-bytes')), table: new Uint8Array(await answer.arrayBuffer()) }
  }

  async page(order: PageOrder): Promise<PageRead> {
    return (await (await this.#ask('page', JSON.stringify(order))).json()) as PageRead
  }

  async bare(): Promise<void> {
    await (await this.#ask('bare')).json()
  }

  async objects(end: string): Promise<{ readonly key: string; readonly bytes: Uint8Array }[]> {
    const bucket = await this.#miniflare.getR2Bucket('ARCHIVE')
    const { objects } = await bucket.list()
    const found = objects.filter(({ key }) => key.endsWith(end))
    return Promise.all(
      found.map(async ({ key }) => ({ key, bytes: new Uint8Array(await (await bucket.get(key))!.arrayBuffer()) })),
    )
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #ask(path: string, body = 'null'): Promise<Response> {
    const answer = await fetch(`${this.#origin}/${path}`, { method: 'POST', body })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
}
