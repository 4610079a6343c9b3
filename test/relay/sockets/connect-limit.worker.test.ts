import { expect, test } from 'vitest'
import type { Identity } from '../../../src/accounts/identity.ts'
import { ClientSockets, STILL_MS, StallDetector } from '../../../src/relay/client-sockets.client.ts'

const identity: Identity = { v: 1, account: 'a', keyHash: 'k', kind: 'api', plan: 'entry', products: ['stream'] }

// WS-3
test('a relay asks a meter as often in 10 s as the plan of a key allows sockets, whatever the isolates let through', async () => {
  const clock = { nowMs: 1_000 }
  let asked = 0
  const subscriptions = { isCrowded: false }
  const admit = async () => {
    asked++
    return { why: 'limit', left: 0 }
  }
  const ports = {
    clock,
    accounts: { of: () => ({ admit }) },
    maxSockets: 1_000,
    subscriptions,
    unread: { refuses: () => false },
  }
  const sockets = new ClientSockets(ports as never)
  for (let i = 0; i < 150; i++) expect(await sockets.admit(identity)).toEqual({ why: 'limit', left: 0 })
  expect(await sockets.admit(identity)).toEqual({ why: 'limit', left: 0, retryAfterMs: 67 })
  expect(asked).toBe(150)
  expect(await sockets.admit({ ...identity, keyHash: 'other' })).not.toHaveProperty('retryAfterMs')
  clock.nowMs += 10_000
  for (let i = 0; i < 300; i++) await sockets.admit(identity)
  expect(asked).toBe(301)
  subscriptions.isCrowded = true
  expect(await sockets.admit({ ...identity, keyHash: 'other' })).toEqual({ why: 'full', left: 0 })
})

test('a relay that sent too much takes sockets again once it has none', async () => {
  const clock = { nowMs: 1_000 }
  const nothing = () => {}
  const unread = { sent: 0, refuses: () => false, forgive: nothing, relieve: nothing, enter: () => ({ gone: nothing }) }
  const account = { admit: async () => null, enter: () => {}, leave: () => {} }
  const ports = {
    clock,
    accounts: { of: () => account },
    maxSockets: 9,
    subscriptions: { isCrowded: false, ended: () => {} },
    unread,
  }
  const sockets = new ClientSockets(ports as never)
  const socket = { serializeAttachment: () => {}, send: () => {}, close: () => {} } as unknown as WebSocket
  sockets.enter(socket, 'one', identity)
  clock.nowMs += 5_000
  unread.sent = 1e9
  sockets.look(false)
  expect(await sockets.admit(identity)).toEqual({ why: 'full', left: 0 })
  sockets.gone(socket)
  expect(await sockets.admit(identity)).toBeNull()
})

// WS-108
test('told once that no block comes, once that they go on, and nothing while nobody waits', () => {
  const stall = new StallDetector()
  expect(stall.look(0, false)).toBeNull()
  expect(stall.look(STILL_MS * 2, true)).toBeNull()
  expect(stall.came(STILL_MS * 2 + 5)).toBe(false)
  expect(stall.look(STILL_MS * 3, true)).toBeNull()
  expect(stall.look(STILL_MS * 3 + 5, true)).toBe(STILL_MS)
  expect(stall.look(STILL_MS * 4, true)).toBeNull()
  expect(stall.came(STILL_MS * 5)).toBe(true)
  expect(stall.came(STILL_MS * 5)).toBe(false)
  expect(stall.look(STILL_MS * 6, true)).toBe(STILL_MS)
  expect(stall.look(STILL_MS * 7, false)).toBeNull()
  expect(stall.look(STILL_MS * 8, true)).toBeNull()
})
