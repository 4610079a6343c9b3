// The heaps of workerd's isolates, read through its inspector.

import { WebSocket } from 'ws'
import { type Heap, type Retained, SnapshotReader } from './heap-snapshot.ts'

const TIMEOUT_MS = 300_000
const CLASSES = {
  'weir-live': ['BlockLog', 'BookHub', 'Relay', 'CreditMeter', 'SourceBudget', 'StatusCache', 'Monitor', 'Payer'],
  'weir-jobs': ['OrderBook', 'Archiver', 'Compactor', 'Sink', 'PipelineFollower'],
} as const

/** A Worker: the routes, or all objects of a Worker on this machine, which share an isolate. */
export type Worker = 'weir' | keyof typeof CLASSES

export interface HeapReport {
  readonly isolates: readonly { readonly worker: Worker; readonly bytes: number }[]
  readonly objects: readonly Retained[]
}

/** What each isolate of objects holds, and each object retains. workerd stands still while a snapshot is taken. */
export async function heapReport(inspector: string): Promise<HeapReport> {
  const isolates = []
  const objects = []
  for (const worker of ['weir-live', 'weir-jobs'] as const) {
    const heap = await heapSnapshot(inspector, worker)
    isolates.push({ worker, bytes: heap.bytes })
    objects.push(...heap.retained(CLASSES[worker]))
  }
  return { isolates, objects: objects.sort((a, b) => b.bytes - a.bytes) }
}

export async function heapSnapshot(inspector: string, worker: Worker): Promise<Heap> {
  const reader = new SnapshotReader()
  const encoder = new TextEncoder()
  const session = await Session.open(inspector, worker, (chunk) => reader.take(encoder.encode(chunk)))
  try {
    await session.call('HeapProfiler.enable')
    await session.call('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
    return reader.heap()
  } finally {
    session.close()
  }
}

/** Bytes of an isolate's heap and of its array buffers after a forced collection. */
export async function heapBytes(inspector: string, worker: Worker): Promise<number> {
  const session = await Session.open(inspector, worker)
  try {
    await session.call('HeapProfiler.enable')
    await session.call('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await session.call('Runtime.getHeapUsage')
    return usedSize! + backingStorageSize!
  } finally {
    session.close()
  }
}

type Result = Record<string, number>

/** With the isolate of one Worker. */
class Session {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>()
  #id = 0

  private constructor(socket: WebSocket, chunk: (text: string) => void) {
    this.#socket = socket
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as Message
      if (message.params?.chunk !== undefined) chunk(message.params.chunk)
      const waiting = this.#waiting.get(message.id ?? -1)
      if (message.error) waiting?.reject(new Error(JSON.stringify(message.error)))
      else waiting?.resolve(message.result ?? {})
    })
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the inspector ended the session'))
    })
  }

  static async open(inspector: string, worker: Worker, chunk: (text: string) => void = () => {}): Promise<Session> {
    const targets = (await (await fetch(`${inspector}/json`)).json()) as { id: string; webSocketDebuggerUrl: string }[]
    const target = targets.find(({ id }) => id.endsWith(`:${worker}`))
    if (target === undefined) throw new Error(`no isolate of ${worker} among ${targets.map(({ id }) => id).join(', ')}`)
    const socket = new WebSocket(target.webSocketDebuggerUrl, { maxPayload: 0 })
    const session = new Session(socket, chunk)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return session
  }

  call(method: string, params: object = {}): Promise<Result> {
    const waiting = Promise.withResolvers<Result>()
    const id = ++this.#id
    this.#waiting.set(id, waiting)
    const timer = setTimeout(() => waiting.reject(new Error(`${method}: no answer in time`)), TIMEOUT_MS)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return waiting.promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(id)
    })
  }

  close(): void {
    this.#socket.terminate()
  }
}

interface Message {
  readonly id?: number
  readonly result?: Result
  readonly error?: object
  readonly params?: { readonly chunk?: string }
}
