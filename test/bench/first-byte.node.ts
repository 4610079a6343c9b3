// Calls sent at one moment, each over a connection of its own that is already open: when the first byte of each answer
// came, and when its last.

import { connect, type Socket } from 'node:net'

export interface AtOnce {
  readonly port: number
  readonly path: string
  /** Header lines, each ending in CRLF, beside host and content-length. */
  readonly headers: string
  readonly body: string
  readonly calls: number
}

export interface Arrival {
  readonly firstMs: number
  readonly wholeMs: number
  readonly bytes: number
}

/** One arrival per call; rejects where one is not 200. */
export async function callAtOnce({ port, path, headers, body, calls }: AtOnce): Promise<Arrival[]> {
  const sockets = await Promise.all(Array.from({ length: calls }, () => open(port)))
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  const request = `${head}${headers}\r\n${body}`
  try {
    const startMs = performance.now()
    return await Promise.all(sockets.map((socket) => arrival(socket, request, startMs)))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject)
  })
}

function arrival(socket: Socket, request: string, startMs: number): Promise<Arrival> {
  return new Promise((resolve, reject) => {
    let firstMs = Number.NaN
    let head = ''
    let due = Number.NaN
    let bytes = 0
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('a connection ended before its answer')))
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (Number.isNaN(firstMs)) firstMs = performance.now() - startMs
      if (Number.isNaN(due)) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head.slice(0, 600)))
        due = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
      }
      if (bytes >= due) resolve({ firstMs, wholeMs: performance.now() - startMs, bytes })
    })
    socket.write(request)
  })
}
