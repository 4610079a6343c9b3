// The gateway and the feeder as their image runs them, and Caddy in front with its file.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls, rootCertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../../src/cli/launch/processes.node.ts'
import { DEPLOY } from '../deploy/dockerfile.ts'
import { defaultCommand, healthCommand, noSandbox, runSandboxed, sandboxUser, weirCommand } from '../deploy/sandbox.ts'
import { lastingPort, type Program, runCommand, scratch } from '../kit/program.ts'
import { type Devnet, paidCall, secretsOf, startDevnet } from '../kit/served.ts'
import { until } from '../kit/until.ts'

const folder = scratch()
// Another user runs the programs.
chmodSync(folder.path, 0o755)
const state = join(folder.path, 'state')
const feederState = join(folder.path, 'feeder')
const snapshots = join(folder.path, 'snapshots')
for (const path of [state, feederState, snapshots]) {
  mkdirSync(path)
  if (process.getuid?.() === 0) chownSync(path, sandboxUser(), sandboxUser())
}
const missing = noSandbox(state)
const noCaddy = missing ?? (spawnSync('caddy', ['version']).status === 0 ? null : 'there is no caddy')
if (missing !== null) console.error(`SKIPPED: the image's commands in a sandbox: ${missing}`)
else if (noCaddy !== null) console.error(`SKIPPED: Caddy in front of the gateway: ${noCaddy}`)

const port = lastingPort()
const url = `http://127.0.0.1:${port}`
/** Those that the Dockerfile gives workerd, which does not start without any. */
const certificates = join(folder.path, 'certificates.pem')
writeFileSync(certificates, rootCertificates.join('\n'))
const seen = { readable: [certificates], env: { SSL_CERT_FILE: certificates, TRUST_PROXY: 'on' } }
let devnet: Devnet
let gateway: Program
/** Of the gateway itself, below Bubblewrap. */
let pid = 0
let feeder: Program | undefined
let key = ''

async function start(): Promise<void> {
  gateway = runSandboxed({ state, ...seen }, defaultCommand(port))
  pid = (JSON.parse(await gateway.line((line) => line.startsWith('{'))) as { pid: number }).pid
}
const statusOf = async (path: string, from = url) => (await fetch(`${from}${path}`)).status
async function newKey(...args: readonly string[]): Promise<string> {
  const create = runSandboxed(
    { state },
    weirCommand('keys', 'create', '--account', 'acme', '--state', '/var/lib/weir', ...args),
  )
  return await create.line((line) => line.startsWith('cqt_'))
}
async function exitCode(program: Program): Promise<number | null> {
  if (program.process.exitCode === null) await once(program.process, 'exit')
  return program.process.exitCode
}

describe.skipIf(missing !== null)('the image', () => {
  beforeAll(async () => {
    devnet = await startDevnet(folder.path)
    await start()
  }, 120_000)
  afterAll(async () => {
    await Promise.all([feeder?.end(), gateway?.end(), devnet?.process.end()])
    folder.remove()
  })

  it('runs without root and capabilities, and writes only to its volume and /tmp', async () => {
    const facts = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(facts).toMatch(new RegExp(`^Uid:\\s+${sandboxUser()}\\s`, 'm'))
    expect(sandboxUser()).toBeGreaterThan(0)
    for (const name of ['CapEff', 'CapPrm', 'CapInh']) expect(facts).toMatch(new RegExp(`^${name}:\\s+0+$`, 'm'))
    expect(facts).toMatch(/^NoNewPrivs:\s+1$/m)
    const write = `for (const path of ['/', '/etc', '/opt', '/tmp', '.'])
      try { fs.writeFileSync(path + '/written', ''); console.log(path, 'ok') } catch ({ code }) { console.log(path, code) }`
    const writer = runSandboxed({ state }, [process.execPath, '-e', write])
    await exitCode(writer)
    expect(writer.lines).toEqual(['/ EROFS', '/etc EROFS', '/opt EROFS', '/tmp ok', '. ok'])
  })

  it('is live before it has a feeder, and ready when the feed is live', async () => {
    expect([await statusOf('/status/live'), await statusOf('/status/ready')]).toEqual([200, 503])
    expect(await exitCode(runSandboxed({ state }, healthCommand(port)))).toBe(0)
    const args = ['--data', devnet.data, '--info', devnet.url, '--gateway', url]
    feeder = runSandboxed(
      {
        state: feederState,
        readable: [devnet.data],
        writable: [snapshots],
        env: { FEED_TOKEN: secretsOf(state).FEED_TOKEN },
      },
      weirCommand('feed', ...args, '--state', '/var/lib/weir', '--snapshot-dir', snapshots),
    )
    await until(async () => (await statusOf('/status/ready')) === 200, 'the gateway is not ready', { withinMs: 60_000 })
    key = await newKey('--credits', '1000')
    expect((await paidCall(url, key)).status).toBe(200)
  })

  it('stops with exit code 0 on its stop signal, and keeps its state', async () => {
    process.kill(pid, 'SIGTERM')
    expect(await exitCode(gateway)).toBe(0)
    expect(existsSync(join(state, 'running.json'))).toBe(false)
    expect(await exitCode(runSandboxed({ state }, healthCommand(port)))).toBe(1)
    await start()
    await until(async () => (await statusOf('/status/ready')) === 200, 'the gateway is not ready', { withinMs: 60_000 })
    expect((await paidCall(url, key)).status).toBe(200)
  })

  describe.skipIf(noCaddy !== null)('behind Caddy', () => {
    let caddy: Program
    let ca: Buffer
    let tlsPort = 0

    beforeAll(async () => {
      tlsPort = await freePort()
      const ports = `admin off\n\thttp_port ${await freePort(0, tlsPort)}\n\thttps_port ${tlsPort}`
      const file = join(folder.path, 'Caddyfile')
      writeFileSync(file, readFileSync(join(DEPLOY, 'caddy/Caddyfile'), 'utf8').replace('admin off', ports))
      const places = { HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path }
      const site = { WEIR_DOMAIN: 'localhost', WEIR_GATEWAY: `127.0.0.1:${port}` }
      caddy = runCommand('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { ...places, ...site })
      const root = join(folder.path, 'caddy/pki/authorities/local/root.crt')
      await until(
        async () => {
          ca = readFileSync(root)
          return (await post('/nothing')).status === 404
        },
        'Caddy does not serve',
        { withinMs: 30_000 },
      )
    }, 60_000)
    afterAll(() => caddy?.end())

    const tls = () => ({ host: '127.0.0.1', port: tlsPort, servername: 'localhost', ca })
    /** Sends a request over HTTP/2. */
    async function post(path: string, headers: Record<string, string> = {}, body = '{}') {
      const session = connect(`https://localhost:${tlsPort}`, {
        createConnection: () => connectTls({ ...tls(), ALPNProtocols: ['h2'] }),
      })
      try {
        const failed = once(session, 'error').then(([error]) => Promise.reject(error))
        const stream = session.request({
          ':method': 'POST',
          ':path': path,
          'content-type': 'application/json',
          ...headers,
        })
        stream.on('error', () => {})
        const answered = once(stream, 'response') as Promise<[{ ':status': number }]>
        stream.end(body)
        const [{ ':status': status }] = await Promise.race([answered, failed])
        return { status, text: await text(stream).catch(() => '') }
      } finally {
        session.destroy()
      }
    }
    const book = JSON.stringify({ type: 'l2Book', coin: 'BTC' })

    it('serves HTTP/2 with TLS, and limits bodies', async () => {
      const answer = await post('/info', { authorization: `Bearer ${key}` }, book)
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"levels"')])
      // 502 if the gateway, which has limits of its own, ends the connection before Caddy has read so much.
      expect([413, 502]).toContain((await post('/mcp', {}, 'x'.repeat(3 * 1024 * 1024))).status)
    })

    it('passes WebSockets', async () => {
      const headers = { host: `localhost:${tlsPort}` }
      const socket = new WebSocket(`wss://127.0.0.1:${tlsPort}/ws?key=${key}`, [], { ...tls(), headers })
      await once(socket, 'open')
      socket.send('{"method":"ping"}')
      const [pong] = (await once(socket, 'message')) as [Buffer]
      expect(String(pong)).toContain('pong')
      socket.terminate()
    })

    it('replaces a forged address', async () => {
      const forged = { 'cf-connecting-ip': '203.0.113.9', 'x-forwarded-for': '203.0.113.9' }
      const near = await newKey('--ranges', '127.0.0.0/8')
      const far = await newKey('--ranges', '203.0.113.0/24')
      const through = async (bearer: string) =>
        (await post('/info', { ...forged, authorization: `Bearer ${bearer}` }, book)).status
      expect([await through(near), await through(far)]).toEqual([200, 403])
      // Without the proxy, the gateway trusts the header.
      const direct = await fetch(`${url}/info`, {
        method: 'POST',
        headers: { ...forged, 'content-type': 'application/json', authorization: `Bearer ${far}` },
        body: book,
      })
      expect(direct.status).toBe(200)
    })
  })
})
