// HTTP server of a single test.

import { createServer, type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HttpServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Also drops its connections. */
  close(): void
}

/** Listens on a free local port. */
export async function startServer(serving: RequestListener | Server): Promise<HttpServer> {
  const server = serving instanceof Server ? serving : createServer(tolerant(serving))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Lets an asynchronous listener fail if the caller was killed in the middle of its request. */
function tolerant(serving: RequestListener): RequestListener {
  return async (request, response) => {
    try {
      await serving(request, response)
    } catch (error) {
      if (!request.destroyed || request.complete) throw error
    }
  }
}
