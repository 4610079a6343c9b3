// Finds objects of known retained size in a real heap snapshot.

import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { SnapshotReader } from './heap-snapshot.ts'

/** A heap of its own is small, whatever else the tests hold. */
const PROGRAM = `
// As a bundler calls it.
const Holder = class _Holder {
  constructor(count, shared) {
    this.own = Array.from({ length: count }, (_, index) => ({ index, text: index + '-' + Math.random() }))
    this.shared = shared
  }
}
const shared = Array.from({ length: 50_000 }, (_, index) => ({ index }))
globalThis.holders = [new Holder(20_000, shared), new Holder(2_000, shared)]
const { parentPort } = require('node:worker_threads')
parentPort.on('message', () => {})
parentPort.postMessage('ready')
`

it('finds each object with what it retains, and nothing of what is shared', async () => {
  const worker = new Worker(PROGRAM, { eval: true })
  try {
    await new Promise((resolve) => worker.once('message', resolve))
    const reader = new SnapshotReader()
    for await (const chunk of await worker.getHeapSnapshot()) reader.take(chunk as Uint8Array)
    const heap = reader.heap()
    const [large, small, none] = heap.retained(['Holder'])
    // An object with a number and a text is some 80 bytes; the shared ones would be a megabyte more.
    expect(large!.bytes / 20_000).toBeGreaterThan(40)
    expect(large!.bytes / 20_000).toBeLessThan(160)
    expect(large!.bytes / small!.bytes).toBeGreaterThan(7)
    expect(none).toBe(undefined)
    expect(heap.kinds().get('Holder')).toBe(2)
    expect(heap.bytes).toBeGreaterThan(large!.bytes + 50_000 * 12)
  } finally {
    await worker.terminate()
  }
})
