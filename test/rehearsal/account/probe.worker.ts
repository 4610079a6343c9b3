// A Worker that measures the platform from within, for `npm run rehearse -- --account`. It is deployed for the checks and
// deleted after them. It reads and writes nothing of the product: one key, one file and objects of its own.

import { DurableObject } from 'cloudflare:workers'

interface ProbeEnv {
  readonly PROBE: DurableObjectNamespace<Probe>
  readonly PROBE_TOKEN: string
  readonly KEYS: KVNamespace
  readonly ACCOUNTS: D1Database
  readonly ARCHIVE?: R2Bucket
}

/** Random values are not allowed before the first event. */
let isolate = ''
const isolateId = (): string => {
  isolate ||= crypto.randomUUID()
  return isolate
}

const ROUNDS = 20

/** Durations of rounds in ms. */
async function timed(run: (round: number) => Promise<unknown>, rounds = ROUNDS): Promise<number[]> {
  const ms: number[] = []
  for (let round = 0; round < rounds; round++) {
    const sinceMs = Date.now()
    await run(round)
    ms.push(Date.now() - sinceMs)
  }
  return ms
}

export class Probe extends DurableObject<ProbeEnv> {
  async isolate(): Promise<string> {
    return isolateId()
  }

  /** The data center of this object. */
  async colo(): Promise<string> {
    const trace = await (await fetch('https://www.cloudflare.com/cdn-cgi/trace')).text()
    return /^colo=(\w+)$/m.exec(trace)?.[1] ?? 'unknown'
  }

  /** Replication of confirmed writes. */
  async commits(): Promise<number[]> {
    return timed(async (round) => {
      this.ctx.storage.kv.put('round', round)
      await this.ctx.storage.sync()
    })
  }

  async end(): Promise<void> {
    await this.ctx.storage.deleteAll()
  }
}

const KEY = 'weir-probe'

type Check = (env: ProbeEnv, query: URLSearchParams) => Promise<unknown>

const object = ({ PROBE }: ProbeEnv, query: URLSearchParams, more = '') => {
  const locationHint = (query.get('hint') ?? undefined) as DurableObjectLocationHint | undefined
  return PROBE.getByName(`${query.get('run')}/${locationHint}${more}`, locationHint && { locationHint })
}

const CHECKS: Readonly<Record<string, Check>> = {
  isolate: async () => isolateId(),
  place: async (env, query) => {
    const stub = object(env, query)
    const colo = await stub.colo()
    return { colo, ms: await timed(() => stub.isolate()) }
  },
  packing: async (env, query) =>
    Promise.all(Array.from({ length: 6 }, (_, at) => object(env, query, `/${at}`).isolate())),
  commits: async (env, query) => object(env, query).commits(),
  d1: async ({ ACCOUNTS }) => timed(() => ACCOUNTS.prepare('SELECT 1').first()),
  r2: async ({ ARCHIVE }) => {
    if (ARCHIVE === undefined) return null
    await ARCHIVE.put(KEY, 'x')
    const ms = await timed(async () => (await ARCHIVE.get(KEY))?.text())
    await ARCHIVE.delete(KEY)
    return ms
  },
  'kv-writes': async ({ KEYS }, query) => {
    const name = `${KEY}-${query.get('run')}-busy`
    const outcomes = []
    for (let at = 0; at < 3; at++) {
      const outcome = await KEYS.put(name, `${at}`, { expirationTtl: 60 }).then(
        () => 'accepted',
        (error) => String(error),
      )
      outcomes.push(outcome)
    }
    return outcomes
  },
  'kv-read': async ({ KEYS }, query) => KEYS.get(`${KEY}-${query.get('run')}`),
  'kv-write': async ({ KEYS }, query) => KEYS.put(`${KEY}-${query.get('run')}`, 'new', { expirationTtl: 300 }),
  end: async (env, query) => object(env, query).end(),
}

export default {
  async fetch(request: Request, env: ProbeEnv): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (request.headers.get('authorization') !== `Bearer ${env.PROBE_TOKEN}`) return new Response(null, { status: 401 })
    const check = CHECKS[pathname.slice(1)]
    if (check === undefined) return new Response(null, { status: 404 })
    try {
      return Response.json({ value: (await check(env, searchParams)) ?? null })
    } catch (error) {
      return Response.json({ error: String(error) })
    }
  },
}
