// Every way in which a dial fails has a sentence that says what to do; real sockets say the same.

import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type DialFailure, dialError } from '../../src/feeder/dial-error.ts'
import { FeedSocket, LivenessMonitor } from '../../src/feeder/feed-socket.node.ts'

const HOST = 'weir.example:443'
const answered = (status: number, retryAfter?: string): DialFailure => ({ kind: 'answered', status, retryAfter })
const failed = (code: string, message = ''): DialFailure => ({ kind: 'failed', code, message })

const REFUSED = 'refused by the gateway'
const UNREACHED = 'cannot reach the gateway'
const CASES: readonly (readonly [DialFailure, typeof REFUSED | typeof UNREACHED, string])[] = [
  [answered(401), REFUSED, "the gateway refused the feed token: set FEED_TOKEN (or --token) to the gateway's"],
  [
    answered(404),
    REFUSED,
    "/feed does not exist there: FEED_TOKEN is unset at the gateway or shorter than 32 characters, or the URL is not a gateway's",
  ],
  [answered(403), REFUSED, 'access rules'],
  [answered(426), REFUSED, 'a proxy between must pass upgrades on'],
  [answered(429), REFUSED, 'too many dials'],
  [answered(200), REFUSED, 'a page is there, not a gateway (200)'],
  [answered(400), REFUSED, 'not a gateway (400)'],
  [answered(301), REFUSED, 'leads elsewhere (301)'],
  [answered(308), REFUSED, 'leads elsewhere (308)'],
  [answered(500), UNREACHED, 'answers 500'],
  [answered(503), UNREACHED, 'down or restarting'],
  [failed('ENOTFOUND'), UNREACHED, `no such host: ${HOST}`],
  [failed('EAI_AGAIN'), UNREACHED, 'DNS'],
  [failed('ECONNREFUSED'), UNREACHED, `nothing listens at ${HOST}`],
  [failed('EHOSTUNREACH'), UNREACHED, 'no way'],
  [failed('ENETUNREACH'), UNREACHED, 'no way'],
  [failed('ECONNRESET'), UNREACHED, 'cut the connection'],
  [failed('ETIMEDOUT'), UNREACHED, 'did not answer in time'],
  [failed('', 'Opening handshake has timed out'), UNREACHED, 'did not answer in time'],
  [failed('CERT_HAS_EXPIRED'), UNREACHED, 'certificate of weir.example:443 is not trusted (CERT_HAS_EXPIRED)'],
  [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), UNREACHED, 'not trusted'],
  [failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), UNREACHED, 'not trusted'],
  [failed('ERR_TLS_CERT_ALTNAME_INVALID'), UNREACHED, 'not trusted'],
  [failed('EPROTO'), UNREACHED, 'does not speak TLS'],
  [failed('HPE_INVALID_CONSTANT'), UNREACHED, 'does not speak HTTP'],
  [failed('EODD', 'a\u001b[31m\nb'), UNREACHED, 'weir.example:443: EODD: a\\u001b[31m\\nb'],
]

describe('a dial that fails', () => {
  it.each(CASES)('with %j says so', (failure, state, words) => {
    const trouble = dialError(failure, HOST)
    expect(trouble.state).toBe(state)
    expect(trouble.why).toContain(words)
  })

  it('is tried again soon, but where an operator has to act at the pace that was asked for', () => {
    const pace = (failure: DialFailure) => dialError(failure, HOST).retryMs
    expect([failed('ECONNREFUSED'), answered(503)].map(pace)).toEqual([null, null])
    const asked = [undefined, '20', '1', '9999', 'Wed, 21 Oct 2026 07:28:00 GMT']
    expect(asked.map((after) => pace(answered(429, after)))).toEqual([5_000, 20_000, 5_000, 60_000, 5_000])
  })
})

describe('over a real socket', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })
  const listening = async (server: Server): Promise<string> => {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const http = (listener: RequestListener) => listening(createServer(listener))
  const dialled = (url: string) =>
    new Promise<DialFailure | null>((resolve, reject) => {
      const unexpected = () => reject(new Error('it opened'))
      new FeedSocket(url, 'secret', {
        onOpen: unexpected,
        onFrame: unexpected,
        onUnreadable: unexpected,
        onClose: (_, dial) => resolve(dial),
      })
    })

  it.each([200, 301, 401, 404, 429, 503])('an answer of %i is told as such', async (status) => {
    const host = await http((_, response) => {
      response.writeHead(status, { 'retry-after': '7', 'content-type': 'text/html' }).end('<html>')
    })
    expect(await dialled(`http://${host}`)).toEqual(answered(status, '7'))
  })

  it('nobody listening, no TLS, no HTTP and a line that is cut have their codes', async () => {
    const host = await http(() => {})
    expect(await dialled(`https://${host}`)).toMatchObject({ kind: 'failed', code: 'EPROTO' })
    servers.pop()!.close()
    const noHttp = await listening(createPlainServer((socket) => socket.end('SSH-2.0\r\n')))
    expect(await dialled(`http://${noHttp}`)).toMatchObject({ code: expect.stringMatching(/^HPE_/) })
    const cut = await listening(createPlainServer((socket) => socket.resetAndDestroy()))
    expect(await dialled(`http://${cut}`)).toMatchObject({ code: 'ECONNRESET' })
    servers.pop()!.close()
    expect(await dialled(`http://${cut}`)).toMatchObject({ code: 'ECONNREFUSED' })
  })
})

const EVERY = { lookEveryMs: 10, patienceMs: 20 }

it('takes one that was silent for longer than is waited for as gone', () => {
  const side = new LivenessMonitor(EVERY, 0)
  side.onReceived(5)
  expect([10, 20, 30].map((nowMs) => side.isAlive(nowMs))).toEqual([true, true, false])
})

it('does not count the time in which nobody looked', () => {
  const side = new LivenessMonitor(EVERY, 0)
  expect(side.isAlive(10)).toBe(true)
  // Stopped for a second, with the answers unread.
  expect(side.isAlive(1_020)).toBe(true)
  side.onReceived(1_021)
  expect([1_030, 1_040].map((nowMs) => side.isAlive(nowMs))).toEqual([true, true])
  expect([1_050, 1_060].map((nowMs) => side.isAlive(nowMs))).toEqual([false, false])
})
