// `weir serve` under kills and power cuts: an ext4 image holds its state folder. A power cut copies the image while all
// processes stand still, as a disk would look, and goes on with the copy. Afterwards, nothing acknowledged may be missing.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf } from '../../src/cli/launch/processes.node.ts'
import { lastingPort, run, scratch } from '../kit/program.ts'
import { seededRandom } from '../kit/random.ts'
import {
  admin,
  paidCall,
  type Served,
  type ServeSecrets,
  secretsOf,
  startDevnet,
  startFeeder,
  startServe,
  statusOf,
  untilLive,
} from '../kit/served.ts'
import { until } from '../kit/until.ts'

interface ServeRun {
  readonly runs: number
  readonly seed: number
  readonly say: (line: string) => void
}

interface ServeReport {
  readonly kills: number
  readonly cuts: number
  /** What the gateway had acknowledged before it ended. */
  readonly keys: number
  readonly grants: number
  readonly calls: number
  readonly height: number
}

const IMAGE_MB = 512
const LEAST_MS = 1_500
const SPREAD_MS = 5_000

/** Why power cuts cannot run here; null: they can. */
export function powerCutFault(): string | null {
  if (process.getuid?.() !== 0) return 'mounting an image needs root'
  try {
    execFileSync('sh', ['-c', 'command -v mkfs.ext4 && test -e /dev/loop-control'], { stdio: 'ignore' })
    return null
  } catch {
    return 'needs mkfs.ext4 and loop devices'
  }
}

/** A file system in a file. */
class Disk {
  readonly #image: string
  readonly path: string

  constructor(folder: string) {
    this.#image = join(folder, 'disk.img')
    this.path = join(folder, 'disk')
    mkdirSync(this.path)
    execFileSync('truncate', ['-s', `${IMAGE_MB}M`, this.#image])
    execFileSync('mkfs.ext4', ['-q', this.#image])
    this.#mount()
  }

  #mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.path])
  }

  /** What is on the disk now. Data that the system has not written yet is missing. */
  photograph(): void {
    copyFileSync(this.#image, `${this.#image}.cut`)
  }

  /** Continues with the photograph. Nothing may have files open. */
  cutPower(): void {
    this.close()
    renameSync(`${this.#image}.cut`, this.#image)
    this.#mount()
  }

  close(): void {
    execFileSync('umount', [this.path])
  }
}

interface Acknowledged {
  readonly keys: string[]
  readonly grants: string[]
  calls: number
  spent: number
  height: number
}

/** Rejects if anything acknowledged is missing after a kill or a power cut. */
export async function serveRun({ runs, seed, say }: ServeRun): Promise<ServeReport> {
  const random = seededRandom(seed)
  const folder = scratch()
  const disk = new Disk(folder.path)
  const state = join(disk.path, 'state')
  const port = lastingPort() + 2
  const devnet = await startDevnet(folder.path)
  const seen: Acknowledged = { keys: [], grants: [], calls: 0, spent: 0, height: 0 }
  let kills = 0
  let served = await startServe(state, port)
  const secrets = secretsOf(state)
  const feeder = startFeeder(folder.path, devnet, served.url, secrets.FEED_TOKEN)
  seen.keys.push(await firstKey(state))
  await untilLive(served.url)
  try {
    for (let at = 0; at < runs; at++) {
      const isCut = at % 2 === 1
      if (!isCut) kills++
      const work = new AbortController()
      const working = acknowledgeWork(served.url, secrets, seen, at, work.signal)
      await sleep(LEAST_MS + random() * SPREAD_MS)
      await endAbruptly(served, isCut ? disk : null)
      work.abort()
      await working
      if (isCut) disk.cutPower()
      checkArchive(join(state, 'gateway/v3/r2'))
      served = await startServe(state, port)
      await checkAll(served.url, secrets, seen)
      await untilLive(served.url)
      say(
        `${at + 1}/${runs} ${isCut ? 'power cut' : 'kill'}: ${seen.keys.length} keys, ${seen.grants.length} grants, ${seen.calls} calls, block ${seen.height}`,
      )
    }
    const gaps = (await statusOf(served.url)).gaps ?? []
    if (gaps.length > 0) throw new Error(`blocks are missing: ${JSON.stringify(gaps)}`)
  } finally {
    await Promise.all([feeder.end(), served.process.end('SIGTERM'), devnet.process.end()])
    disk.close()
    folder.remove()
  }
  const { calls, height } = seen
  return { kills, cuts: runs - kills, keys: seen.keys.length, grants: seen.grants.length, calls, height }
}

/** Every object that the archive's store names is there whole. */
function checkArchive(store: string): void {
  for (const path of globSync('miniflare-R2BucketObject/*.sqlite', { cwd: store })) {
    const database = new DatabaseSync(join(store, path), { readOnly: true })
    const has = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_mf_objects'").get() !== undefined
    const rows = has ? database.prepare('SELECT key, blob_id AS blob, etag FROM _mf_objects').all() : []
    database.close()
    for (const { key, blob, etag } of rows) {
      const file = join(store, 'weir-archive/blobs', String(blob))
      const found = existsSync(file) && createHash('md5').update(readFileSync(file)).digest('hex')
      if (found !== etag) throw new Error(`the object ${key} of the archive is ${found === false ? 'lost' : 'damaged'}`)
    }
  }
}

async function firstKey(state: string): Promise<string> {
  const create = run('keys', ['create', '--account', 'acme', '--credits', '1000000', '--state', state])
  return create.line((line) => line.startsWith('cqt_'))
}

/** Makes keys, grants and calls until the signal, and notes what was answered. */
async function acknowledgeWork(
  url: string,
  secrets: ServeSecrets,
  seen: Acknowledged,
  at: number,
  signal: AbortSignal,
): Promise<void> {
  for (let n = 0; !signal.aborted; n++)
    try {
      const { status } = await paidCall(url, seen.keys[0] ?? '')
      if (status === 200) seen.calls++
      const id = `run-${at}-${n}`
      await admin(url, secrets, '/accounts/acme/grants', { idempotency_key: id, credits: '1' })
      seen.grants.push(id)
      const { key } = await admin<{ key: string }>(url, secrets, '/keys', { account: 'acme', label: id })
      seen.keys.push(key)
      const { spent } = await admin<{ spent: string }>(url, secrets, '/accounts/acme')
      seen.spent = Math.max(seen.spent, Number(spent))
      seen.height = Math.max(seen.height, (await statusOf(url)).durable ?? 0)
      await sleep(20)
    } catch {
      // It was not acknowledged.
      await sleep(20)
    }
}

/** Ends all processes of the gateway. With a disk, photographs it while they stand still. */
async function endAbruptly({ process: program }: Served, disk: Disk | null): Promise<void> {
  const pid = program.process.pid ?? 0
  const pids = [pid, ...childrenOf(pid, '')]
  for (const one of pids) process.kill(one, 'SIGSTOP')
  disk?.photograph()
  for (const one of pids) process.kill(one, 'SIGKILL')
  await program.end('SIGKILL')
  await until(() => pids.every((one) => !existsSync(`/proc/${one}`)), 'a process did not end', { withinMs: 10_000 })
}

interface ShownAccount {
  readonly spent: string
  readonly keys: readonly { readonly label: string }[]
}
interface GrantPage {
  readonly grants: readonly { readonly id: string }[]
  readonly next: number | null
}

async function checkAll(url: string, secrets: ServeSecrets, seen: Acknowledged): Promise<void> {
  const missing: string[] = []
  const { spent } = await admin<ShownAccount>(url, secrets, '/accounts/acme')
  if (Number(spent) < seen.spent) missing.push(`${seen.spent - Number(spent)} credits that were spent`)
  const granted = new Set<string>()
  for (let before: number | null | undefined; before !== null; ) {
    const query: string = before === undefined ? '' : `&before=${before}`
    const page: GrantPage = await admin<GrantPage>(url, secrets, `/grants?account=acme${query}`)
    for (const { id } of page.grants) granted.add(id)
    before = page.next
  }
  missing.push(...seen.grants.filter((id) => !granted.has(`grant:${id}`)).map((id) => `grant ${id}`))
  for (const key of seen.keys.slice(-50))
    if ((await paidCall(url, key)).status === 401) missing.push(`key ${seen.keys.indexOf(key)}`)
  const { durable } = await statusOf(url)
  if ((durable ?? 0) < seen.height) missing.push(`blocks ${durable} to ${seen.height}`)
  if (missing.length > 0) throw new Error(`lost although acknowledged: ${missing.join(', ')}`)
}
