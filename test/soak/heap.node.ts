// The heap of the live Worker's isolate, asked of workerd's inspector.

import { WebSocket } from 'ws'
import { type Heap, type Retained, SnapshotReader } from './heap-snapshot.ts'

const TIMEOUT_MS = 300_000
const CLASSES = ['BlockLog', 'BookHub', 'Relay', 'CreditMeter', 'SourceBudget', 'OrderBook']

export interface HeapReport {
  /** All of the isolate, in which every object of this machine lives. */
  readonly bytes: number
  readonly objects: readonly Retained[]
}

/** Takes a snapshot of the isolate that holds objects; workerd stands still meanwhile. */
export async function heapReport(inspector: string): Promise<HeapReport> {
  const targets = (await (await fetch(`${inspector}/json`)).json()) as { id: string; webSocketDebuggerUrl: string }[]
  const target = targets.find(({ id }) => id.endsWith('weir-live'))
  if (target === undefined) throw new Error(`no isolate of weir-live among ${targets.map(({ id }) => id).join(', ')}`)
  const heap = await heapOf(target.webSocketDebuggerUrl)
  return { bytes: heap.bytes, objects: heap.retained(CLASSES) }
}

function heapOf(url: string): Promise<Heap> {
  const socket = new WebSocket(url, { maxPayload: 0 })
  const { promise, resolve, reject } = Promise.withResolvers<Heap>()
  const timer = setTimeout(() => reject(new Error('no heap snapshot in time')), TIMEOUT_MS)
  const reader = new SnapshotReader()
  const encoder = new TextEncoder()
  socket.once('open', () => {
    socket.send('{"id":1,"method":"HeapProfiler.enable"}')
    socket.send('{"id":2,"method":"HeapProfiler.takeHeapSnapshot","params":{"reportProgress":false}}')
  })
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString()) as { id?: number; error?: object; params?: { chunk?: string } }
    if (message.params?.chunk !== undefined) reader.take(encoder.encode(message.params.chunk))
    if (message.error) reject(new Error(JSON.stringify(message.error)))
    else if (message.id === 2) resolve(reader.heap())
  })
  socket.once('error', reject)
  return promise.finally(() => {
    clearTimeout(timer)
    socket.terminate()
  })
}
