// Ports of a launch: asked of the system before anything is started, so that a taken one is one clear sentence.

import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Why 127.0.0.1:port cannot be listened on now, in the system's code; null where it can. */
function taken(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** The same, with a second of patience: a process just ended may still hold it. */
export async function whyTaken(port: number): Promise<string | null> {
  for (let i = 0; ; i++) {
    const why = await taken(port)
    if (why !== 'EADDRINUSE' || i === 20) return why
    await sleep(50)
  }
}

/** `wanted` where it is free, else any free port; never `promised`, which somebody will listen on soon. */
export async function freePort(wanted: number | undefined, promised?: number): Promise<number> {
  if (wanted && wanted !== promised && (await taken(wanted)) === null) return wanted
  const port = await anyPort()
  return port === promised ? freePort(undefined, promised) : port
}

function anyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
