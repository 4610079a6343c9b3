// `post`: bounds and refusals, with a gateway in the test's hands.

import { expect, it } from 'vitest'
import type { Identity } from '../../src/accounts/identity.ts'
import { answerPost, inTurn } from '../../src/relay/post.client.ts'
import { Connection } from '../../src/relay/sockets/connection.ts'

const identity: Identity = { v: 1, account: 'a', keyHash: 'k', kind: 'api', plan: 'entry', products: ['info'] }

// WS-43, WS-44
it('takes info alone, sixteen at a time, and says the status of a failure', async () => {
  const sent: { channel: string; data: unknown; code?: string }[] = []
  const sink = { send: (text: string) => sent.push(JSON.parse(text)), close: () => undefined }
  const connection = new Connection('c', { identity, terms: 0 }, sink, { nowMs: 0 }, () => undefined)
  const gate = Promise.withResolvers<void>()
  const gateway = {
    info: async () => {
      await gate.promise
      return { status: 422, body: '{"msg":"coin: is wrong"}' }
    },
  }
  const post = (id: number, type = 'info') =>
    answerPost(connection, { method: 'post', id, request: { type, payload: { type: 'meta' } } }, gateway)
  await post(0, 'action')
  expect(sent.pop()?.data).toMatchObject({ response: { type: 'error', payload: expect.stringMatching(/^400: /) } })
  const asked = Array.from({ length: 16 }, (_, i) => post(i + 1))
  await post(17)
  expect(sent).toEqual([{ channel: 'error', data: 'too many pending post requests id=17', code: 'rate_limited' }])
  gate.resolve()
  await Promise.all(asked)
  expect(sent.at(-1)).toMatchObject({
    channel: 'post',
    data: { id: 16, response: { type: 'error', payload: '422: coin: is wrong' } },
  })
  await post(18)
  expect(sent.at(-1)?.data).toMatchObject({ id: 18 })
})

// WS-44
it('asks for few answers at once, however many sockets an account has, and for those of others beside', async () => {
  const gate = Promise.withResolvers<void>()
  const asked: string[] = []
  const gateway = inTurn({
    info: async ({ account }) => {
      asked.push(account)
      await gate.promise
      return { status: 200, body: '{}' }
    },
  })
  const post = (account: string) => {
    const sink = { send: () => undefined, close: () => undefined }
    const own = { identity: { ...identity, account }, terms: 0 }
    const connection = new Connection('c', own, sink, { nowMs: 0 }, () => undefined)
    return answerPost(connection, { method: 'post', id: 1, request: { type: 'info', payload: {} } }, gateway)
  }
  const posts = [...Array.from({ length: 40 }, () => post('crowd')), post('other')]
  await new Promise((resolve) => setTimeout(resolve))
  expect(asked).toEqual([...Array.from({ length: 16 }, () => 'crowd'), 'other'])
  gate.resolve()
  await Promise.all(posts)
  expect(asked).toHaveLength(41)
})
