import { expect, test } from 'vitest'
import { Connection } from '../../../src/relay/sockets/connection.ts'
import { LIGHT } from '../../../src/relay/sockets/unread.ts'
import { identityOf } from '../../kit/identity.ts'

const identity = identityOf('entry', ['stream'])

function open() {
  const sent: string[] = []
  const closes: [number, string][] = []
  const clock = { nowMs: 1000 }
  const ended: string[] = []
  const sink = {
    send: (text: string) => sent.push(text),
    close: (code: number, why: string) => closes.push([code, why]),
  }
  const connection = new Connection('c', { identity, terms: 0 }, sink, clock, ({ id }) => ended.push(id))
  return { connection, sent, closes, clock, ended }
}

// WS-12
test('a socket with too much unproved data learns how to prove, and is closed with 1013, once', () => {
  const { connection, sent, closes, ended } = open()
  const text = 'x'.repeat(LIGHT.bytes / 4)
  for (let i = 0; i < 6; i++) connection.send(text)
  expect(sent.slice(0, 4)).toEqual([text, text, text, text])
  expect(JSON.parse(sent[4]!)).toMatchObject({ code: 'too_slow', data: expect.stringContaining('"nonce"') })
  expect(sent).toHaveLength(5)
  expect(closes).toEqual([[1013, expect.any(String)]])
  expect(ended).toEqual(['c'])
})

// WS-60
test('a proving socket continues indefinitely; pings alone prove nothing', () => {
  const proving = open()
  const pinging = open()
  const text = 'x'.repeat(1024 * 1024)
  let nonce = proving.connection.onPing('', 'n')
  for (let i = 0; i < 100; i++) {
    proving.connection.send(text)
    nonce = proving.connection.onPing(nonce, `n${i}`)
    pinging.connection.send(text)
    pinging.connection.onPing('guessed', `n${i}`)
  }
  expect(proving.closes).toEqual([])
  expect(pinging.closes).toEqual([[1013, expect.any(String)]])
})

test('a socket whose send fails has ended, and its end is reported once', () => {
  const ended: string[] = []
  const sink = {
    send: () => {
      throw new Error('closed')
    },
    close: () => undefined,
  }
  const connection = new Connection('c', { identity, terms: 0 }, sink, { nowMs: 0 }, ({ id }) => ended.push(id))
  connection.send('a')
  connection.send('b')
  connection.onClosed()
  expect(ended).toEqual(['c'])
})

// WS-8
test('frames over the rate limit are rejected, and an endless flood is closed', () => {
  const { connection, clock, closes } = open()
  for (let i = 0; i < 2000; i++) expect(connection.admit()).toBe('yes')
  expect(connection.admit()).toBe('no')
  clock.nowMs += 30
  expect(connection.admit()).toBe('yes')
  for (let i = 0; i < 1001; i++) expect(connection.admit()).toBe('no')
  expect(closes).toEqual([[1008, 'too many messages']])
})

// WS-8
test.each([
  [16 * 1024, 'yes'],
  [16 * 1024 - 1, 'no'],
] as const)('endless proofs of %i characters each', (chars, admitted) => {
  const { connection } = open()
  let nonce = connection.onPing('', 'n')
  for (let i = 0; i < 2000; i++) {
    connection.admit()
    connection.send('x'.repeat(chars))
    nonce = connection.onPing(nonce, `n${i}`)
  }
  expect(connection.admit()).toBe(admitted)
})

test('changed limits apply to an open socket', () => {
  const { connection } = open()
  for (let i = 0; i < 2001; i++) connection.admit()
  connection.renew({ ...identity, plan: 'enterprise' }, 1)
  expect([connection.messagesPerMinute, connection.terms]).toEqual([10_000, 1])
  for (let i = 0; i < 10_000; i++) expect(connection.admit()).toBe('yes')
  expect(connection.admit()).toBe('no')
})

// WS-11
test('a socket is idle since the last frame in either direction; sends count when checked', () => {
  const { connection, clock } = open()
  clock.nowMs += 30_000
  expect(connection.idleMs(clock.nowMs)).toBe(30_000)
  connection.send('x')
  clock.nowMs += 10_000
  expect(connection.idleMs(clock.nowMs)).toBe(0)
  clock.nowMs += 40_000
  expect(connection.idleMs(clock.nowMs)).toBe(40_000)
  connection.admit()
  expect(connection.idleMs(clock.nowMs)).toBe(0)
})

// WS-9
test('tasks of one socket run in order', async () => {
  const { connection } = open()
  const order: string[] = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  connection.enqueue(async () => {
    await gate
    order.push('first')
  })
  connection.enqueue(async () => {
    order.push('second')
  })
  release()
  await connection.drained()
  expect(order).toEqual(['first', 'second'])
})
