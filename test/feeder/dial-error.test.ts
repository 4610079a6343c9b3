// Every dial error has a message that says what to do. Real sockets give the same messages.

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
  [answered(401), REFUSED, 'FEED_TOKEN'],
  [answered(404), REFUSED, '404'],
  [answered(403), REFUSED, 'access rules'],
  [answered(426), REFUSED, '426'],
  [answered(429), REFUSED, '429'],
  [answered(200), REFUSED, '200'],
  [answered(400), REFUSED, '400'],
  [answered(301), REFUSED, '301'],
  [answered(308), REFUSED, '308'],
  [answered(500), UNREACHED, '500'],
  [answered(503), UNREACHED, '503'],
  [failed('ENOTFOUND'), UNREACHED, HOST],
  [failed('EAI_AGAIN'), UNREACHED, 'DNS'],
  [failed('ECONNREFUSED'), UNREACHED, HOST],
  [failed('EHOSTUNREACH'), UNREACHED, 'network'],
  [failed('ENETUNREACH'), UNREACHED, 'network'],
  [failed('ECONNRESET'), UNREACHED, 'https://'],
  [failed('ETIMEDOUT'), UNREACHED, 'in time'],
  [failed('', 'Opening handshake has timed out'), UNREACHED, 'in time'],
  [failed('CERT_HAS_EXPIRED'), UNREACHED, 'CERT_HAS_EXPIRED'],
  [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), UNREACHED, 'certificate'],
  [failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), UNREACHED, 'certificate'],
  [failed('ERR_TLS_CERT_ALTNAME_INVALID'), UNREACHED, 'certificate'],
  [failed('EPROTO'), UNREACHED, 'TLS'],
  [failed('HPE_INVALID_CONSTANT'), UNREACHED, 'HTTP'],
  [failed('EODD', 'a\u001b[31m\nb'), UNREACHED, 'weir.example:443: EODD: a\\u001b[31m\\nb'],
]

describe('a dial that fails', () => {
  it.each(CASES)('%j is named', (failure, state, words) => {
    const error = dialError(failure, HOST)
    expect(error.state).toBe(state)
    expect(error.why).toContain(words)
  })

  it('is retried soon, or at the requested interval if an operator has to act', () => {
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

  it.each([200, 301, 401, 404, 429, 503])('a response of %i is reported', async (status) => {
    const host = await http((_, response) => {
      response.writeHead(status, { 'retry-after': '7', 'content-type': 'text/html' }).end('<html>')
    })
    expect(await dialled(`http://${host}`)).toEqual(answered(status, '7'))
  })

  it('a closed port, no TLS, no HTTP and a reset have their codes', async () => {
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

const EVERY = { checkEveryMs: 10, timeoutMs: 20 }

it('considers a connection dead after the timeout', () => {
  const side = new LivenessMonitor(EVERY, 0)
  side.onReceived(5)
  expect([10, 20, 30].map((nowMs) => side.isAlive(nowMs))).toEqual([true, true, false])
})

it('does not count time without checks', () => {
  const side = new LivenessMonitor(EVERY, 0)
  expect(side.isAlive(10)).toBe(true)
  // Stopped for a second, with the responses unread.
  expect(side.isAlive(1_020)).toBe(true)
  side.onReceived(1_021)
  expect([1_030, 1_040].map((nowMs) => side.isAlive(nowMs))).toEqual([true, true])
  expect([1_050, 1_060].map((nowMs) => side.isAlive(nowMs))).toEqual([false, false])
})
