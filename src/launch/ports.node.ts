// Ports of a launch: asked of the system before anything is started, so that a taken one is one clear sentence.

import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** True where 127.0.0.1:port can be listened on now. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** The same, with a second of patience: a process just ended may still hold it. */
export async function becomesFree(port: number): Promise<boolean> {
  for (let i = 0; i < 20; i++) {
    if (await isFree(port)) return true
    await sleep(50)
  }
  return false
}

/** `wanted` where it is free, else any free port. */
export async function freePort(wanted: number | undefined): Promise<number> {
  if (wanted && (await isFree(wanted))) return wanted
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
