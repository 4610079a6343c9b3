// Ports of a launch: asked of the system before anything is started, so that a taken one is one clear sentence.

import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The port where 127.0.0.1 can be listened on now (0: any free one), or the system's code of why not. */
function listen(port: number): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** The system's code of why a port is taken, null where it is not. A process just ended may hold it for a second. */
export async function whyTaken(port: number): Promise<string | null> {
  for (let i = 0; ; i++) {
    const got = await listen(port)
    if (typeof got === 'number') return null
    if (got !== 'EADDRINUSE' || i === 20) return got
    await sleep(50)
  }
}

/** `wanted` where it is free, else any free port; never `promised`, which somebody will listen on soon. */
export async function freePort(wanted = 0, promised?: number): Promise<number> {
  const got = wanted === promised ? await listen(0) : await listen(wanted)
  if (typeof got === 'number' && got !== promised) return got
  if (wanted === 0 && typeof got === 'string') throw new Error(`no port is free (${got})`)
  return freePort(0, promised)
}
