import { expect, test } from 'vitest'
import { EventQueue } from '../../src/client/event-queue.ts'

const open = (most: number) => {
  let left = 0
  const queue = new EventQueue<string>(
    most,
    () => 'dropped',
    () => left++,
  )
  return { queue, left: () => left }
}
const rest = async (queue: EventQueue<string>) => {
  const events: string[] = []
  for await (const event of queue) events.push(event)
  return events
}

test('delivers events in order, with the end last', async () => {
  const { queue } = open(10)
  for (const event of ['a', 'b']) queue.push(event)
  queue.end('end')
  queue.push('late')
  queue.end('once more')
  expect(await rest(queue)).toEqual(['a', 'b', 'end'])
})

test('delivers to a waiting reader at once', async () => {
  const { queue } = open(10)
  const next = queue.next()
  queue.push('a')
  expect(await next).toEqual({ done: false, value: 'a' })
})

test('drops the oldest events beyond the limit, and reports it first and once', async () => {
  const { queue } = open(3)
  for (let at = 0; at < 1_000; at++) queue.push(String(at))
  expect(queue.size).toBe(3)
  queue.end('end')
  expect(await rest(queue)).toEqual(['dropped', '998', '999', 'end'])
})

test('queues only the latest event of a key, behind earlier events', async () => {
  const { queue } = open(3)
  for (let at = 0; at < 1_000; at++) {
    queue.push(`a${at}`, 'a')
    if (at === 500) queue.push('other')
  }
  queue.end('end')
  expect(await rest(queue)).toEqual(['other', 'a999', 'end'])
})

test('frees everything when the reader leaves, and ends other waiting readers', async () => {
  const { queue, left } = open(3)
  const waiting = queue.next()
  const second = queue.next()
  expect((await waiting).done).toBe(true)
  await queue.return()
  queue.push('late')
  expect([(await second).done, (await queue.next()).done, queue.size, left()]).toEqual([true, true, 0, 1])
})
