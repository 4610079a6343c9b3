// TCP proxy that a test can cut: it forwards bytes until all connections are dropped at the same time.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export interface CutProxy {
  readonly url: string
  /** Drops all connections; new ones are refused until `restore`. */
  cut(): void
  restore(): void
  close(): void
}

export async function cutProxy(to: string): Promise<CutProxy> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      isCut = false
    },
    close: () => {
      cut()
      server.close()
    },
  }
}
