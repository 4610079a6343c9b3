// Each condition of the platform that a rehearsal adds detects a planted fault, which plain workerd does not show.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerOptions } from '../../src/cli/launch/gateway-process.node.ts'
import { bundledModules } from '../../src/cli/launch/miniflare-options.node.ts'
import { scratch } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'
import { commitMs } from './output-gate.ts'
import { MIXTURES, mix } from './previous.node.ts'
import { Rehearsal } from './topology.ts'

const FOLDER = import.meta.dirname

/** As wrangler would write it. */
function bundle(): string {
  const text = stripTypeScriptTypes(readFileSync(join(FOLDER, 'faulty.worker.ts'), 'utf8'))
  return `${text.replace('export class', 'class').replace('export default', 'const handlers =')}
export { Faulty, handlers as default };
`
}

const FAULTY: WorkerOptions = {
  name: 'faulty',
  modulesRoot: FOLDER,
  modules: [{ type: 'ESModule', path: join(FOLDER, 'faulty.js'), contents: bundle() }],
  compatibilityDate: '2026-11-01',
  unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  kvNamespaces: ['KEYS'],
  d1Databases: ['DB'],
  r2Buckets: ['FILES'],
}
const GATEWAY: WorkerOptions = {
  ...FAULTY,
  durableObjects: { OBJECT: { className: 'Faulty', scriptName: 'objects', useSQLite: true } },
}
const OBJECTS: WorkerOptions = {
  ...FAULTY,
  name: 'objects',
  durableObjects: { OBJECT: { className: 'Faulty', useSQLite: true } },
}
delete OBJECTS.unsafeDirectSockets

interface Faulty {
  readonly ask: (fault: string) => Promise<{ value?: unknown; error?: string }>
  readonly ws: string
  readonly stop: () => Promise<void>
}

async function start(
  arrange: (workers: readonly WorkerOptions[]) => readonly WorkerOptions[],
  versions: readonly [gateway: object, objects: object] = [{}, {}],
): Promise<Faulty> {
  const workers = [
    ...arrange([{ ...GATEWAY, ...versions[0] } as WorkerOptions, { ...OBJECTS, ...versions[1] } as WorkerOptions]),
  ]
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers, cf: false, telemetry: { enabled: false } }))
  const { name } = workers.find(({ unsafeDirectSockets }) => unsafeDirectSockets !== undefined)!
  const { origin } = await miniflare.unsafeGetDirectURL(name)
  return {
    ask: async (fault) => {
      const text = await (await fetch(`${origin}/${fault}`)).text()
      return text.startsWith('{') || text.startsWith('[') ? (JSON.parse(text) as object) : { error: text }
    },
    ws: origin.replace('http', 'ws'),
    stop: () => miniflare.dispose(),
  }
}

// 30 s of CPU would take 30 s.
const rehearsal = new Rehearsal({ gateways: 2, limits: { cpuMs: 500 } })
const { collector } = rehearsal
let plain: Faulty
let rehearsed: Faulty
beforeAll(async () => {
  ;[plain, rehearsed] = await Promise.all([start((workers) => workers), start(rehearsal.arrange)])
})
afterAll(async () => {
  await Promise.all([plain?.stop(), rehearsed?.stop()])
})

describe('a limit of the platform', () => {
  it.each([
    ['subrequests', /subrequests 1001, limit 1000/],
    ['connections', /connections 7, limit 6/],
    ['row', /valueBytes \d+, limit 2000000/],
    ['value', /valueBytes \d+, limit 2000000/],
    ['objectRow', /valueBytes \d+, limit 2000000/],
    ['statements', /statements 1001, limit 1000/],
    ['rpc', /rpcBytes \d+, limit \d+ \(arguments of take\)/],
    ['result', /rpcBytes \d+, limit \d+ \(result of give\)/],
    ['cpu', /cpuMs \d+, limit 500/],
    ['parameters', /parameters 101, limit 100/],
  ])('fails the event and is reported: %s', async (fault, text) => {
    expect((await rehearsed.ask(fault)).error).toMatch(fault === 'cpu' ? /Error/ : text)
    await expect.poll(() => collector.violations.some((line) => text.test(line))).toBe(true)
  })

  it.each(['subrequests', 'connections', 'statements', 'cpu'])('is absent from plain workerd: %s', async (fault) => {
    expect((await plain.ask(fault)).error).toBeUndefined()
  })

  it('fails a socket with a large attachment', async () => {
    await expect(Socket.open(`${rehearsed.ws}/attachment`)).rejects.toMatchObject({ status: 500 })
    await expect.poll(() => collector.violations.join()).toMatch(/attachmentBytes \d+, limit 16384/)
  })
})

describe('the clock', () => {
  it('stands still while code runs', async () => {
    expect((await rehearsed.ask('clock')).value).toBe(0)
    expect((await plain.ask('clock')).value).toBeGreaterThan(0)
  })

  it('advances over I/O', async () => {
    expect((await rehearsed.ask('waiting')).value).toBeGreaterThan(0)
  })

  it('is at 0 before the first event', async () => {
    expect((await rehearsed.ask('loaded')).value).toBe(0)
  })
})

describe('KV', () => {
  const twice = async (fault: string) => [await rehearsed.ask(fault), await rehearsed.ask(fault)]

  it('keeps a miss in each location after a write', async () => {
    const read = 'read?key=missed'
    expect(await twice(read)).toEqual([{ value: null }, { value: null }])
    await rehearsed.ask('write?key=missed&value=new')
    const values = (await twice(read)).map(({ value }) => value)
    // The location that wrote it sees it.
    expect(values.sort()).toEqual(['new', null])
  })

  it('keeps an old value in the same way', async () => {
    await rehearsed.ask('write?key=changed&value=old')
    await twice('read?key=changed')
    await expect.poll(async () => (await rehearsed.ask('write?key=changed&value=new')).error).toBeUndefined()
    expect((await twice('read?key=changed')).map(({ value }) => value).sort()).toEqual(['new', 'old'])
  })

  it('refuses a second write of a key within a second', async () => {
    const writes = await twice('write?key=busy&value=1')
    expect(writes.map(({ error }) => error?.includes('429'))).toEqual([undefined, true])
    expect(collector.kvRefusals).toBeGreaterThan(0)
  })
})

describe('several isolates', () => {
  it('do not share memory', async () => {
    const calls = async (faulty: Faulty) => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => faulty.ask('limited')))
      return answers.filter(({ error }) => error === undefined).length
    }
    expect(await calls(plain)).toBe(3)
    expect(await calls(rehearsed)).toBe(6)
  })

  it('are as far from a store as their places', async () => {
    const ms = async () => {
      const sinceMs = performance.now()
      await rehearsed.ask('rounds')
      return performance.now() - sinceMs
    }
    const both = [await ms(), await ms()]
    // Tokyo to Frankfurt, four times.
    expect(Math.max(...both)).toBeGreaterThan(4 * 220 - 10)
    expect(Math.min(...both)).toBeLessThan(4 * 220 - 10)
  })
})

describe('an object', () => {
  const answerMs = async (message: string) => {
    const socket = await Socket.open(`${rehearsed.ws}/?name=${message}`)
    const sinceMs = performance.now()
    socket.send(message)
    await socket.next(({ told }) => told === message)
    socket.close()
    return performance.now() - sinceMs
  }

  it('sends nothing before a confirmed write is replicated, but at once after another one', async () => {
    expect(await answerMs('confirmed')).toBeGreaterThan(14)
    await expect.poll(() => answerMs('unconfirmed')).toBeLessThan(14)
  })

  it('waits for a slow replication once in a hundred times', () => {
    expect([commitMs(0.009), commitMs(0.01)]).toEqual([150, 15])
  })

  it('loses its memory when it is reset', async () => {
    await rehearsed.ask('count')
    const before = (await rehearsed.ask('count')).value
    expect(before).toBeGreaterThan(1)
    await rehearsed.ask('rehearsal/reset')
    expect((await rehearsed.ask('count')).value).toBe(1)
  })

  it('has no name when it is called by its ID', async () => {
    expect((await rehearsed.ask('named')).value).toBe('ONE')
    expect((await rehearsed.ask('nameless')).error).toMatch(/toUpperCase/)
  })
})

describe('two versions', () => {
  const folder = scratch()
  afterAll(folder.remove)
  const write = (version: string, text: string) => {
    for (const part of ['gateway', 'live']) {
      mkdirSync(join(folder.path, version, part), { recursive: true })
      writeFileSync(join(folder.path, version, part, 'faulty.js'), text)
    }
    return join(folder.path, version)
  }
  /** What today's version calls `count` had another name before. */
  const previous = write('previous', bundle().replace('async count', 'async total').replaceAll('.count()', '.total()'))
  const today = write('today', bundle())
  const counted = async (versions: string) => {
    const faulty = await start(
      (workers) => workers,
      [bundledModules(join(versions, 'gateway')), bundledModules(join(versions, 'live'))],
    )
    try {
      return await faulty.ask('count')
    } finally {
      await faulty.stop()
    }
  }

  it.each([previous, today])('work alone', async (version) => {
    expect(await counted(version)).toEqual({ value: 1 })
  })

  it.each(MIXTURES)('do not work together if the %s of the earlier one call a renamed method', async (old) => {
    const { error } = await counted(mix(old, { previous, today }, join(folder.path, old)))
    expect(error).toMatch(/does not implement/)
  })
})
